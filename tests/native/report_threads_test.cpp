// Backtraces of threads as text: which are told together, titles, and how they end.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "arch/x86/x86_64_facts.h"
#include "report/form/numbers.h"
#include "report/stack_groups.h"
#include "report/threads_text.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;

// Frames at addresses of a program without names.
class Frames {
 public:
  Frames() : process_(kX86_64) {
    process_.code(kCode, 0x1000);
    image_ = process_.image();
    symbolizer_ = std::make_unique<Symbolizer>(*image_);
  }
  // Two bytes apart; those of `searched` were found by a search.
  NamedWalk walk(std::size_t count, const std::vector<std::size_t>& searched = {}) {
    Backtrace made;
    for (std::size_t i = 0; i < count; ++i) {
      Frame frame;
      frame.pc = kCode + 2 * i;
      frame.sp = 0x70000000 + 16 * i;
      frame.cfa = frame.sp + 16;
      frame.trust = i == 0 ? Trust::context : Trust::cfi;
      made.frames.push_back(frame);
    }
    for (const std::size_t level : searched) {
      made.frames[level].trust = Trust::scan;
    }
    made.stop = {StopReason::end_of_stack, "nobody called"};
    return {std::move(made), *symbolizer_, {}};
  }

 private:
  TestProcess process_;
  std::unique_ptr<ProcessImage> image_;
  std::unique_ptr<Symbolizer> symbolizer_;
};

Thread thread_of(std::int64_t lwp, std::string name = {}) {
  Thread thread;
  thread.lwp = lwp;
  thread.name = std::move(name);
  thread.registers.set(kX86_64.registers.sp, 0x70000000);
  return thread;
}

std::string text_of(const std::vector<ThreadTrace>& traces, const ThreadsForm& form) {
  ThreadsText writer(traces, kX86_64, form);
  std::string text;
  while (true) {
    std::string block;
    if (!writer.append_block(block)) {
      return text;
    }
    text += block;
  }
}

TEST_CASE("report: runs of numbers") {
  CHECK(number_runs(std::vector<std::int64_t>{}).empty());
  CHECK(number_runs(std::vector<std::int64_t>{2, 3, 4, 7, 9, 10}) == "2..4, 7, 9, 10");
  CHECK(number_runs(std::vector<std::int64_t>{5, 4, 3, 4, 5}, "2.") == "2.5, 2.4, 2.3..2.5");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1000) == "1,000");
}

TEST_CASE("report: as many frames as were asked for") {
  Frames frames;
  const NamedWalk walk = frames.walk(5);
  const Thread thread = thread_of(1);
  const auto shown = [&](std::optional<std::int64_t> count) {
    const ThreadTrace trace = shown_trace(thread, walk, {.count = count});
    return std::pair(trace.shown.first, trace.shown.count);
  };
  CHECK(shown({}) == std::pair<std::size_t, std::size_t>(0, 5));
  CHECK(shown(2) == std::pair<std::size_t, std::size_t>(0, 2));
  CHECK(shown(0) == std::pair<std::size_t, std::size_t>(0, 0));
  CHECK(shown(-2) == std::pair<std::size_t, std::size_t>(3, 2));
  CHECK(shown(-9) == std::pair<std::size_t, std::size_t>(0, 5));
  CHECK(shown_trace(thread, walk, {.count = 4}).stop.reason == StopReason::count);
  CHECK(shown_trace(thread, walk, {.count = 5}).stop.reason == StopReason::end_of_stack);
  CHECK(shown_trace(thread, walk, {.count = -4}).stop.reason == StopReason::end_of_stack);
}

TEST_CASE("report: equal stacks are told together, but for the one that crashed") {
  Frames frames;
  const NamedWalk walk = frames.walk(3);
  const NamedWalk searched = frames.walk(3, {1});
  const NamedWalk longer = frames.walk(4);
  const std::vector<Thread> threads = {thread_of(101, "first"), thread_of(102), thread_of(103),
                                       thread_of(104),          thread_of(105), thread_of(106)};
  std::vector<ThreadTrace> traces;
  for (const NamedWalk* one : {&walk, &walk, &searched, &walk, &longer, &walk}) {
    traces.push_back(shown_trace(threads[traces.size()], *one, {}));
    traces.back().head.number = static_cast<std::int64_t>(traces.size());
  }
  traces[3].head = {4, true, "SIGSEGV"};
  using Groups = std::vector<std::vector<std::size_t>>;
  CHECK(group_stacks(traces, true) == Groups{{0, 1, 5}, {2}, {3}, {4}});
  CHECK(group_stacks(traces, false) == Groups{{0}, {1}, {2}, {3}, {4}, {5}});
  const std::string text = text_of(traces, {.titles = true, .inferior = "2."});
  CHECK(
      text.starts_with("Threads 2.1, 2.2, 2.6 (LWP 101, 102, 106) [3 threads, same stack]:\n"
                       "#0  0x0000000000401000 in ?? ()  [context]\n"));
  CHECK(text.find("\n\nThread 2.4 (LWP 104, SIGSEGV):\n#0  0x") != std::string::npos);
  traces.resize(1);
  CHECK(text_of(traces, {.titles = true}).starts_with("Thread 1 (LWP 101 \"first\"):\n"));
}

TEST_CASE("report: equal frames that rest on other searches do not read the same") {
  Frames frames;
  const NamedWalk walk = frames.walk(6);
  const NamedWalk searched = frames.walk(6, {1});
  const Thread thread = thread_of(1);
  const std::vector<ThreadTrace> traces = {shown_trace(thread, walk, {.count = -2}),
                                           shown_trace(thread, searched, {.count = -2})};
  CHECK(group_stacks(traces, true).size() == 2);
}

TEST_CASE("report: what frames rest on") {
  Frames frames;
  const Thread thread = thread_of(1);
  const auto line = [&](const NamedWalk& walk) {
    return resting_line(shown_trace(thread, walk, {}));
  };
  CHECK(line(frames.walk(4)).empty());
  CHECK(line(frames.walk(2, {1})).empty());
  CHECK(line(frames.walk(3, {1})) == "1 of 3 frames rests on the search at #1.");
  CHECK(line(frames.walk(9, {1, 4})) == "7 of 9 frames rest on the searches at #1 and #4.");
  CHECK(line(frames.walk(9, {1, 4, 6})) == "7 of 9 frames rest on the searches at #1, #4 and #6.");
  CHECK(line(frames.walk(9, {1, 2, 3, 5, 7})) ==
        "7 of 9 frames rest on the searches at #1, #2, #3 and 2 more.");
}

TEST_CASE("report: why frames end, where that is worth a line") {
  CHECK(stop_line({StopReason::end_of_stack, "x"}).empty());
  CHECK(stop_line({StopReason::main, "x"}).empty());
  CHECK(stop_line({StopReason::count, {}}) == "(More stack frames follow...)");
  CHECK(stop_line({StopReason::no_caller, {}}) == "(whocall stopped: no caller found)");
  CHECK(stop_line({StopReason::unreadable, "the stack"}) == "(whocall stopped: the stack)");
}

TEST_CASE("report: the same function found in another way is no repetition") {
  const Thread thread = thread_of(1);
  for (const bool mixed : {false, true}) {
    Backtrace made;
    for (std::size_t i = 0; i < 60; ++i) {
      Frame frame;
      frame.pc = kCode + 0x80;
      frame.trust = mixed && i % 3 == i / 20 ? Trust::analysis : Trust::cfi;
      made.frames.push_back(frame);
    }
    TestProcess process(kX86_64);
    process.code(kCode, 0x1000);
    const auto image = process.image();
    Symbolizer symbolizer(*image);
    const NamedWalk walk(std::move(made), symbolizer, {});
    const std::string text = text_of({shown_trace(thread, walk, {})}, {});
    CHECK((text.find("the frame above repeated") != std::string::npos) == !mixed);
  }
}

}  // namespace
}  // namespace whocall::test
