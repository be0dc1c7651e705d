// Makes the report of one crash: stage by stage, so that a crash inside one costs that stage alone.
#pragma once

#include <atomic>
#include <csetjmp>

#include "runtime/crash/crash.h"
#include "runtime/crash/output.h"
#include "runtime/crash/receiver.h"
#include "runtime/crash/report_record.h"
#include "runtime/crash/stack_frames.h"

namespace whocall::runtime {

// There is one in a process, and one thread at a time uses it.
class Reporter {
 public:
  [[nodiscard]] Output& output() { return output_; }
  [[nodiscard]] Receiver& receiver() { return receiver_; }

  // Of the crash itself, or of the one whose handler ends by it. Without a context: of the one
  // whose handler this is called in, if there is one.
  void report(const Crash& crash);
  // The same where the stack for handlers has not the room for a report: by the receiver, or that
  // so many bytes are missing, in one line.
  void report_small_stack(const Crash& crash, std::size_t missing);

  // Whether a receiver has the report now, which takes as long as it takes; it ends in time.
  [[nodiscard]] bool is_telling() const { return is_telling_.load(); }

  // Of the thread that is in report(), when it crashes itself: goes on behind the stage. It returns
  // where there is no way on.
  void give_up_stage(int signal, const void* address);

 private:
  using Stage = void (Reporter::*)();

  void run(Stage stage);
  void note_failure();
  void find_cause();
  void tell_receiver();
  void begin_anew(const Crash& crash);
  void begin();
  void registers();
  void walk();
  void begin_record();
  void frames();
  void other_threads();
  void end_record();
  void modules();
  void mappings();
  void finish();
  void name_report();
  void name_failure();
  void name_missing_room();
  static void other_thread(pid_t thread, void* self);

  Output output_;
  Receiver receiver_;
  std::atomic<bool> is_telling_{false};
  bool is_received_ = false;  // the receiver has made the report
  bool was_refused_ = false;  // there is one, which has not
  char received_[512] = {};   // what it said
  std::size_t missing_ = 0;   // bytes, of the stack for handlers
  Crash crash_{};
  bool is_handled_ = false;  // a handler of the program's own had it
  Ending ending_;            // then
  StackFrames frames_;
  std::size_t printed_ = 0;  // of frames_, the one that was being printed among them
  ReportRecord record_;
  bool recording_ = false;
  Sink text_;
  jmp_buf behind_stage_{};
  volatile bool is_in_stage_ = false;
  int given_up_ = 0;  // stages, or frames
  int failed_signal_ = 0;
  const void* failed_address_ = nullptr;
};

}  // namespace whocall::runtime
