// Backtraces of threads as text: titles, frames, and why they end.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/text_lines.h"
#include "report/thread_trace.h"

namespace whocall {

struct ThreadsForm {
  bool titles = false;     // over every thread, equal stacks folded
  bool fold = true;        // runs of repeating frames are told in a line
  std::string inferior{};  // stands before numbers of threads, such as "2." where gdb has several
  Paint paint{};
};

class ThreadsText {
 public:
  // `traces` and `arch` must outlive it.
  ThreadsText(std::span<const ThreadTrace> traces, const Architecture& arch, ThreadsForm form);

  // The next lines, each with its newline; false when none are left.
  bool append_block(std::string& text);

 private:
  void append_title(std::string& text, const std::vector<std::size_t>& group) const;
  void append_end(std::string& text, const ThreadTrace& trace) const;

  std::span<const ThreadTrace> traces_;
  const Architecture& arch_;
  ThreadsForm form_;
  std::vector<std::vector<std::size_t>> groups_;
  std::size_t next_ = 0;            // of the groups
  std::optional<TextLines> lines_;  // of the group that is being written
};

// "(whocall stopped: no caller found)"; empty for a clean end, which says nothing, as in gdb.
std::string stop_line(const Stop& stop);
// How many of the frames are no surer than a search of the stack on which they rest; may be empty.
std::string resting_line(const ThreadTrace& trace);

}  // namespace whocall
