// Frames as lines of text, in the form of gdb's own `bt`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/cycles.h"
#include "report/thread_trace.h"

namespace whocall {

// SGR parameters such as "33"; what has none stays as it is.
struct Paint {
  std::string title{};
  std::string function{};
  std::string filename{};
  std::string address{};
  std::string metadata{};
};
void append_painted(std::string& text, std::string_view code, std::string_view words);

// How many bytes of stack were searched for a frame; none where it was not so found. They begin at
// the stack pointer of the frame below and end at its CFA.
std::optional<Address> bytes_searched(const ThreadTrace& trace, std::size_t number,
                                      const Architecture& arch);

// The lines of a chain, frame after frame: so many at a time have their trust words in one column
// that a long chain is not laid out whole before its first line.
class TextLines {
 public:
  // All must outlive it. `fold`: runs of repeating frames are told in a line.
  TextLines(const ThreadTrace& trace, const Architecture& arch, const Paint& paint, bool fold);

  // The next lines, each with its newline; false when none are left.
  bool append_block(std::string& text);

 private:
  struct Line {
    std::size_t at = 0;        // which of the frames
    const Gap* gap = nullptr;  // what stands there in its place
    std::size_t end = 0;       // of its text in drafts_, painted, without the trust word
    std::size_t width = 0;     // of the text without the paint, in characters
  };

  void draft_lines();
  void draft(std::size_t at);
  void put(std::string_view words, std::string_view code = {});
  void put_name(std::string_view name, std::string_view code);
  void put_number(std::uint64_t value);
  void put_pc(Address pc);
  void finish(std::string& text, const Line& line, std::string_view draft);
  void append_searched(std::string& text, std::size_t at) const;

  const ThreadTrace& trace_;
  const Architecture& arch_;
  const Paint& paint_;
  std::vector<Gap> gaps_;
  std::string drafts_;  // of the present block
  std::vector<Line> lines_;
  std::size_t next_ = 0;                // of the frames
  std::size_t next_gap_ = 0;            // of the gaps
  std::size_t column_ = 0;              // of the trust words
  std::optional<std::uint32_t> below_;  // level of the frame before
};

}  // namespace whocall
