// Backtraces of threads as text: titles, what happened, frames, and why they end.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/frame_lines.h"
#include "report/thread_trace.h"

namespace whocall {

struct ThreadsForm {
  bool titles = false;       // over every thread; equal stacks are folded unless words of them show
  std::string inferior{};    // stands before numbers of threads, such as "2." where gdb has several
  std::string last_words{};  // why the crashed thread ended, where its runtime said so
  LinesForm lines{};
  FileDisplay files = FileDisplay::relative;
  std::span<const Module> modules{};  // of the process, whose names are to be told apart
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
  LineNames names_;
  std::vector<std::vector<std::size_t>> groups_;
  std::size_t next_ = 0;            // of the groups
  LinesForm lines_form_;            // of the group that is being written
  std::optional<TextLines> lines_;  // of the group that is being written
};

// `Thread 1 (LWP 4242 "prog", SIGSEGV):`, or for several with one stack
// `Threads 2..4, 7 (LWP 4243..4245, 4248) [4 threads, same stack]:`.
struct ThreadsTitle {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> lwps;
  std::string_view name{};      // of the first one
  std::string_view signal{};    // of one that crashed
  std::string_view inferior{};  // as in ThreadsForm
};
std::string title_line(const ThreadsTitle& title);
// "(whocall stopped: no caller found)"; empty for a clean end, which says nothing, as in gdb.
std::string stop_line(const Stop& stop);
// Why a chain ends cleanly, as a phrase; empty where stop_line() says why it ends.
std::string end_phrase(const Stop& stop);
// How many of the frames are no surer than a search of the stack on which they rest; may be empty.
std::string resting_line(const ThreadTrace& trace);

}  // namespace whocall
