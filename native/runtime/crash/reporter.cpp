#include "runtime/crash/reporter.h"

#include "runtime/crash/handled.h"
#include "runtime/crash/handler_stack.h"
#include "runtime/crash/other_threads.h"
#include "runtime/crash/report_text.h"
#include "runtime/crash/signals.h"
#include "runtime/machine.h"
#include "runtime/text.h"

namespace whocall::runtime {

void Reporter::begin_anew(const Crash& crash) {
  crash_ = crash;
  is_handled_ = false;
  frames_ = {};
  printed_ = 0;
  recording_ = false;
  text_ = {};
  is_received_ = false;
  was_refused_ = false;
  received_[0] = '\0';
  given_up_ = 0;
  is_telling_.store(false);
}

void Reporter::report(const Crash& crash) {
  begin_anew(crash);
  run(&Reporter::find_cause);
  if (crash_.context == nullptr) {
    return;
  }
  run(&Reporter::tell_receiver);
  if (is_received_) {
    run(&Reporter::begin);
    run(&Reporter::name_report);
    return;
  }
  // What tells most comes first.
  constexpr Stage kStages[] = {
      &Reporter::begin,        &Reporter::registers, &Reporter::walk,
      &Reporter::begin_record, &Reporter::frames,    &Reporter::other_threads,
      &Reporter::end_record,   &Reporter::modules,   &Reporter::mappings};
  for (const Stage stage : kStages) {
    run(stage);
  }
  run(&Reporter::finish);
}

void Reporter::report_small_stack(const Crash& crash, std::size_t missing) {
  begin_anew(crash);
  missing_ = missing;
  if (missing <= kReportRoom - kReceiverRoom) {
    run(&Reporter::tell_receiver);
  }
  if (is_received_) {
    run(&Reporter::begin);
    run(&Reporter::name_report);
  } else {
    run(&Reporter::name_missing_room);
  }
}

void Reporter::name_missing_room() {
  Sink text = output_.open_text();
  if (text.is_wanted()) {
    Line line(text);
    line.append("whocall: ").append(signal_name(crash_.signal)).append(" in process ");
    line.decimal(static_cast<std::uint64_t>(crash_.process));
    line.append(": the stack for signal handlers is too small for a report: give it ");
    line.decimal(missing_).append(" bytes more, or none before whocall_install_thread()");
  }
  output_.close_text(text);
}

void Reporter::run(Stage stage) {
  // Without the mask of signals, which is what it was: the handler defers none of a crash.
  while (_setjmp(behind_stage_) != 0) {
    note_failure();
    // A frame that cannot be named costs no other.
    if (stage != &Reporter::frames || printed_ >= frames_.kept()) {
      is_in_stage_ = false;
      return;
    }
    print_bare_frame(text_, frames_, printed_ - 1);
  }
  is_in_stage_ = true;
  (this->*stage)();
  is_in_stage_ = false;
}

void Reporter::note_failure() {
  if (recording_) {
    record_.set_interrupted();
  }
  if (text_.is_wanted()) {
    Line line(text_);
    line.append("whocall: the report itself crashed here (").append(signal_name(failed_signal_));
    line.append(" at address ").hexadecimal(reinterpret_cast<std::uintptr_t>(failed_address_));
    line.append("); it goes on behind this part");
  }
}

void Reporter::give_up_stage(int signal, const void* address) {
  constexpr int kMostGivenUp = 64;
  if (!is_in_stage_ || ++given_up_ > kMostGivenUp) {
    return;
  }
  failed_signal_ = signal;
  failed_address_ = address;
  _longjmp(behind_stage_, 1);
}

void Reporter::find_cause() {
  ending_ = {.signal = crash_.signal, .code = crash_.info.si_code};
  if (may_be_handling(crash_.thread) && !crash_.is_question) {
    const ucontext_t* const context = crash_.context;
    CarefulWalk walk(context == nullptr ? here() : point_of(*context), context != nullptr);
    is_handled_ = find_handled(crash_.thread, walk, crash_);
  }
  if (!is_handled_ && crash_.context != nullptr && !crash_.is_question) {
    recall(crash_);
  }
}

// A record without frames: those the receiver finds by itself.
void Reporter::tell_receiver() {
  if (!receiver_.is_named() || crash_.is_question) {
    return;
  }
  was_refused_ = true;
  record_.begin(crash_, ReportRecord::kMost, 1);
  record_.add_thread(crash_.thread, Registers(*crash_.context), thread_name(crash_.thread),
                     frames_);
  record_.add_sender(crash_);
  record_.add_annotations();
  const std::size_t size = record_.finish();
  is_telling_.store(true);
  is_received_ = receiver_.tell(record_.bytes(), size, received_, sizeof received_);
  is_telling_.store(false);
  was_refused_ = !is_received_;
}

void Reporter::begin() {
  text_ = output_.open_text();
  if (text_.is_wanted()) {
    print_headline(text_, crash_, thread_name(crash_.thread));
    if (is_handled_) {
      print_ending(text_, ending_);
    }
    print_annotations(text_);
    name_failure();
  }
}

void Reporter::registers() {
  if (text_.is_wanted()) {
    print_registers(text_, Registers(*crash_.context));
  }
}

void Reporter::walk() { frames_.walk(CarefulWalk(point_of(*crash_.context), true)); }

void Reporter::begin_record() {
  if (output_.wants_record()) {
    record_.begin(crash_, output_.record_room(ReportRecord::kMost), output_.next_sequence());
    recording_ = true;
    record_.add_thread(crash_.thread, Registers(*crash_.context), thread_name(crash_.thread),
                       frames_);
  }
  // Nobody waits for names before the record is safe.
  if (recording_ && output_.options().all_threads == 0) {
    end_record();
  }
}

void Reporter::frames() {
  while (text_.is_wanted() && printed_ < frames_.kept()) {
    print_frame(text_, frames_, printed_++);
  }
  if (text_.is_wanted()) {
    print_end(text_, frames_);
  }
}

void Reporter::other_thread(pid_t thread, void* self) {
  auto& reporter = *static_cast<Reporter*>(self);
  if (thread == reporter.crash_.thread) {
    return;
  }
  const Answer* const answer = ask(reporter.crash_.process, thread);
  if (reporter.text_.is_wanted()) {
    print_other_thread(reporter.text_, thread, thread_name(thread), answer != nullptr);
    if (answer != nullptr) {
      for (std::size_t i = 0; i < answer->frames.kept(); ++i) {
        print_frame(reporter.text_, answer->frames, i);
      }
      print_end(reporter.text_, answer->frames);
    }
  }
  if (!reporter.recording_) {
    return;
  }
  if (answer != nullptr) {
    reporter.record_.add_thread(thread, answer->registers, thread_name(thread), answer->frames);
  } else {
    reporter.record_.add_silent(thread, thread_name(thread));
  }
}

void Reporter::other_threads() {
  if (output_.options().all_threads != 0) {
    begin_asking();
    for_each_thread(other_thread, this);
  }
}

void Reporter::end_record() {
  if (recording_) {
    recording_ = false;
    record_.add_annotations();
    record_.add_stack(*crash_.context);
    const std::size_t size = record_.finish();
    output_.write_record(record_.bytes(), size);
  }
}

void Reporter::modules() {
  if (text_.is_wanted()) {
    print_build_ids(text_);
  }
}

void Reporter::mappings() {
  if (text_.is_wanted()) {
    print_mappings(text_);
  }
}

void Reporter::name_report() {
  if (text_.is_wanted()) {
    Line(text_).append("whocall: ").append(received_);
  }
  output_.close_text(text_);
}

void Reporter::name_failure() {
  if (was_refused_) {
    Line line(text_);
    line.append("whocall: the receiver at ").append(receiver_.path());
    line.append(" has made no report (").append(received_).append("); here is the process's own");
  }
}

void Reporter::finish() {
  if (text_.is_wanted()) {
    Line(text_).append("whocall: end of the report");
  }
  output_.close_text(text_);
}

}  // namespace whocall::runtime
