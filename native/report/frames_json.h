// Frames as JSON text: what `json.dumps(frames, indent=1, ensure_ascii=False)` of Python writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/argument_text.h"
#include "report/form/json_members.h"

namespace whocall {

class FramesJson {
 public:
  // The frames stand behind `margin` spaces.
  // Of arguments they tell what `arguments` knows; null: there is no word of them.
  explicit FramesJson(std::size_t margin, ArgumentText* arguments = nullptr)
      : margin_(margin), arguments_(arguments), spots_(kSpots) {}

  // Appends the frames of the trace from number `from` on, of a list, each with what separates
  // it from the one before, until the block is full or none is left. Returns the number of the
  // first one that was not written.
  std::size_t append(std::string& block, const ThreadTrace& trace, std::size_t from);

 private:
  static constexpr std::size_t kSpots = 512;

  // All that a frame is told of but its level and its CFA hangs on these.
  struct Spot {
    const Place* place = nullptr;
    std::uint32_t call = 0;
    Address pc = 0;
    Trust trust = Trust::context;
    EvidenceSet evidence{};
    bool signal_trampoline = false;
    std::optional<std::size_t> rests_on{};
    friend bool operator==(const Spot&, const Spot&) = default;
  };
  struct Written {
    Spot spot;
    std::string text;
  };

  void append_argument(std::string& text, const FrameArguments& arguments,
                       std::size_t position) const;
  void append_arguments(JsonMembers& members, std::string& text, const FrameArguments* found) const;
  void append_frame(std::string& text, const ThreadTrace& trace, const FrameFacts& facts);

  std::size_t margin_;
  ArgumentText* arguments_;
  std::vector<Written> spots_;  // by a hash, each in the place of another
};

}  // namespace whocall
