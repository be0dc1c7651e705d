// Frames as lines of text, in the form of gdb's own `bt`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "memory/memory.h"
#include "report/argument_text.h"
#include "report/form/cycles.h"
#include "report/form/file_display.h"
#include "report/form/paint.h"
#include "report/form/source_hints.h"
#include "report/frame_details.h"
#include "report/short_names.h"
#include "report/thread_trace.h"

namespace whocall {

// What lines of frames show.
struct LinesForm {
  bool fold = true;       // runs of repeating frames are told in a line
  bool explain = false;   // how each frame was found, and why the chain ends
  bool addresses = true;  // where each frame is
  bool places = true;     // in which source file and line, or in which module
  // Where the words of each frame's stack are read, to be shown with its registers; null: neither
  // is. It must outlive whoever writes.
  const Memory* stack = nullptr;
  // Writes what functions were handed; null: that is not shown. It must outlive whoever writes.
  ArgumentText* arguments = nullptr;
  Paint paint{};
  std::size_t columns = 0;  // of the screen; 0: lines are whole, however long
};

// How lines name functions and files, and what is near places; of all threads.
struct LineNames {
  ShortNames functions;
  FileNames files;
  std::unordered_map<const Place*, NearPlace> near{};
};

// "[cfi]", "[cfi, inlined]", "[scan?]": what was only searched for has a mark.
std::string trust_words(const FrameFacts& facts);

// The lines of a chain, frame after frame: so many at a time have their trust words in one column
// that a long chain is not laid out whole before its first line.
class TextLines {
 public:
  // All must outlive it.
  TextLines(const ThreadTrace& trace, const Architecture& arch, const LinesForm& form,
            LineNames& names);

  // The next lines, each with its newline; false when none are left.
  bool append_block(std::string& text);

 private:
  struct Line {
    std::size_t at = 0;        // which of the frames
    const Gap* gap = nullptr;  // what stands there in its place
    std::size_t end = 0;       // of its text in drafts_, painted, without the trust word
    std::size_t width = 0;     // of its last line without the paint, in characters
  };

  void draft_lines();
  void draft(std::size_t at);
  const NearPlace& near_place(const NamedFrame& frame) const;
  void draft_function(const FrameFacts& facts, std::size_t beside, std::size_t behind);
  void align();
  [[nodiscard]] std::size_t words_beside(std::size_t at) const;
  [[nodiscard]] std::size_t room() const { return form_.columns - 1; }  // columns of a line
  void put(std::string_view words, std::string_view code = {});
  void put_name(std::string_view name, std::string_view code);
  void put_number(std::uint64_t value);
  void put_pc(Address pc);
  void finish(std::string& text, const Line& line, std::string_view draft);
  void finish_frame(std::string& text, const Line& line, std::string_view draft);
  [[nodiscard]] std::vector<std::string> words_behind_name(const FrameFacts& facts);
  void put_words(const std::vector<std::string>& words);
  void append_searched(std::string& text, std::size_t at) const;
  void append_details(std::string& text, const FrameFacts& facts);

  const ThreadTrace& trace_;
  const Architecture& arch_;
  const LinesForm& form_;
  const Paint& paint_;
  LineNames& names_;
  std::optional<StackText> words_;
  std::vector<Gap> gaps_;
  std::string drafts_;  // of the present block
  std::vector<Line> lines_;
  std::size_t next_ = 0;                // of the frames
  std::size_t next_gap_ = 0;            // of the gaps
  std::size_t column_ = 0;              // where trust words begin, or on a screen end
  std::optional<std::uint32_t> below_;  // level of the frame before
  Address sp_ = 0;                      // where the stack of the next frame begins
};

}  // namespace whocall
