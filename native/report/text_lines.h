// Frames as lines of text, in the form of gdb's own `bt`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/cycles.h"
#include "report/frame_facts.h"

namespace whocall {

struct TextForm {
  bool fold = true;                 // runs of repeating frames are told in a line
  std::size_t pointer_digits = 16;  // of pcs
  Address sp = 0;                   // the stack pointer of the innermost frame
  // SGR parameters such as "33"; what has none stays as it is.
  std::string function{};
  std::string filename{};
  std::string address{};
  std::string metadata{};
};

// The lines of a chain, frame after frame: so many at a time have their trust words in one column
// that a long chain is not laid out whole before its first line.
class TextLines {
 public:
  // `walk` must outlive it.
  TextLines(const NamedWalk& walk, FrameRange range, TextForm form);

  // The next lines, each with its newline; false when none are left.
  bool append_block(std::string& text);

 private:
  struct Line {
    std::size_t at = 0;        // which of the frames
    const Gap* gap = nullptr;  // what stands there in its place
    std::string text{};        // painted, without the trust word
    std::size_t width = 0;     // of the text without the paint, in characters
  };

  [[nodiscard]] FrameFacts frame(std::size_t at) const { return {walk_, range_.at(at)}; }
  std::vector<Line> next_lines();
  [[nodiscard]] Line line_of(std::size_t at) const;
  void finish(std::string& text, const Line& line);
  void append_searched(std::string& text, std::size_t at) const;
  [[nodiscard]] std::optional<Address> bytes_searched(std::size_t at) const;

  const NamedWalk& walk_;
  FrameRange range_;
  TextForm form_;
  std::vector<Gap> gaps_;
  std::size_t next_ = 0;           // of the frames
  std::size_t next_gap_ = 0;       // of the gaps
  std::size_t column_ = 0;         // of the trust words
  std::optional<unsigned> below_;  // level of the frame before
};

}  // namespace whocall
