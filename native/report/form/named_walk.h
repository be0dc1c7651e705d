// What is told of the frames of a finished walk, whoever tells it: Python's objects, JSON, text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unwind/backtrace.h"
#include "unwind/walk/named_frames.h"

namespace whocall {

// The names point into the frames, and into the symbolizer that gave them. Unless
// `lines_past_main`, the callers of the program's main have no lines.
class NamedWalk {
 public:
  NamedWalk(Backtrace walked, Symbolizer& symbolizer, NamingOptions options,
            bool lines_past_main = true);
  NamedWalk(const NamedWalk&) = delete;
  NamedWalk& operator=(const NamedWalk&) = delete;
  NamedWalk(NamedWalk&&) = default;
  NamedWalk& operator=(NamedWalk&&) = default;
  ~NamedWalk() = default;

  [[nodiscard]] std::size_t size() const { return named_.size(); }
  [[nodiscard]] const Stop& stop() const { return backtrace_.stop; }
  // Of what stands at `named`; null where nobody asked for them.
  [[nodiscard]] const FrameDetails* details(const NamedFrame& named) const;
  [[nodiscard]] const std::vector<Frame>& frames() const { return backtrace_.frames; }
  [[nodiscard]] const NamedFrame& operator[](std::size_t index) const { return named_[index]; }
  // Whether any frame was found by a search of the stack.
  [[nodiscard]] bool has_searched() const { return !searched_.empty(); }
  // The level of the nearest inner frame that was found by a search of the stack: what this one is
  // found from. Inlined calls are part of the frame that holds them, not inner to it.
  [[nodiscard]] std::optional<std::size_t> rests_on(std::size_t index) const;

 private:
  Backtrace backtrace_;
  std::vector<NamedFrame> named_;
  std::vector<std::size_t> searched_;  // levels of the frames that were found by a search
};

// Frames of a walk, in the order in which they are wanted: first, first + step, ...
struct FrameRange {
  std::size_t first = 0;
  std::ptrdiff_t step = 1;
  std::size_t count = 0;

  [[nodiscard]] std::size_t at(std::size_t number) const {
    return first + static_cast<std::size_t>(step) * number;
  }
};

// One line of a backtrace. Texts are bytes as the files hold them, and empty where there are none.
class FrameFacts {
 public:
  FrameFacts(const NamedWalk& walk, std::size_t index)
      : walk_(&walk), named_(&walk[index]), index_(index) {}

  [[nodiscard]] const NamedFrame& named() const { return *named_; }
  [[nodiscard]] const Frame& frame() const { return *named_->frame; }
  // Null where nobody asked for them.
  [[nodiscard]] const FrameDetails* details() const { return walk_->details(*named_); }
  [[nodiscard]] std::optional<Address> cfa() const;
  // Null for code that lies in none.
  [[nodiscard]] const Module* owner() const { return place().module; }
  [[nodiscard]] std::string_view module() const;
  [[nodiscard]] std::string_view build_id() const;
  [[nodiscard]] std::optional<Address> rva() const;     // link address of pc in its module
  [[nodiscard]] std::optional<Address> offset() const;  // bytes from the function's start
  [[nodiscard]] std::string_view name_source() const;
  [[nodiscard]] bool inferred() const;
  [[nodiscard]] const std::vector<std::string>& aliases() const;
  [[nodiscard]] std::optional<std::size_t> rests_on() const { return walk_->rests_on(index_); }
  // How many bytes of stack were searched for it; none where it was not so found. They begin at the
  // stack pointer of the frame below and end at its CFA.
  [[nodiscard]] std::optional<Address> searched() const;
  // How the frame was found, and why it has not the name that other debuggers would give it.
  [[nodiscard]] std::string explanation() const;

 private:
  [[nodiscard]] const Place& place() const { return *named_->place; }

  const NamedWalk* walk_;
  const NamedFrame* named_;
  std::size_t index_;
};

}  // namespace whocall
