// Backtraces of threads as the items of a JSON list.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "report/frames_json.h"
#include "report/thread_trace.h"

namespace whocall {

class ThreadsJson {
 public:
  // The items stand behind `margin` spaces. Both must outlive it. Without `arguments` they are
  // those of whocall.backtrace/1: no word of what functions were handed, nor of what happened.
  // `last_words` as in ThreadsForm.
  ThreadsJson(std::span<const ThreadTrace> traces, std::size_t margin, ArgumentText* arguments,
              std::string last_words)
      : traces_(traces),
        margin_(margin),
        tells_happened_(arguments != nullptr),
        last_words_(std::move(last_words)),
        frames_(margin + 2, arguments) {}

  // The next piece of them; false when none is left.
  bool append_block(std::string& text);

 private:
  void begin(std::string& text, const ThreadTrace& trace) const;
  void end(std::string& text, const ThreadTrace& trace) const;

  std::span<const ThreadTrace> traces_;
  std::size_t margin_;
  bool tells_happened_;
  std::string last_words_;
  FramesJson frames_;
  std::size_t next_ = 0;   // of the traces
  std::size_t frame_ = 0;  // of that one
  bool inside_ = false;    // it was begun
};

}  // namespace whocall
