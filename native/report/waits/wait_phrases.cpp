#include "report/waits/wait_phrases.h"

#include <algorithm>

#include "base/hex.h"
#include "base/printable_text.h"
#include "report/form/numbers.h"

namespace whocall {
namespace {

constexpr std::size_t kMostLinks = 16;  // of a cycle that are told one by one

std::string at(const Waiting& waiting) {
  return waiting.object ? " at " + hex(*waiting.object) : std::string();
}

// "the recursive mutex"; "a mutex" where it is not known which.
std::string typed(const Waiting& waiting, std::string_view what) {
  std::string text = waiting.object ? "the " : "a ";
  text += waiting.type;
  text += waiting.type.empty() ? "" : " ";
  return text += what;
}

// " (pipe:[4711])"
std::string behind_descriptor(const Waiting& waiting) {
  std::string text =
      waiting.descriptor ? " at descriptor " + std::to_string(*waiting.descriptor) : std::string();
  if (!waiting.descriptor_name.empty()) {
    text += " (";
    append_printable(text, waiting.descriptor_name);
    text += ')';
  }
  return text;
}

std::string call_name(const Waiting& waiting) {
  return waiting.call && !waiting.call->name.empty() ? std::string(waiting.call->name)
                                                     : std::string("a system call");
}

std::string running(const Waiting& waiting) {
  if (waiting.call) {
    return "runs: it comes back from " + call_name(waiting);
  }
  return waiting.function.empty()
             ? "runs"
             : "runs: it stands in the kernel's vsyscall page, at " + waiting.function;
}

std::string unknown_futex(const Waiting& waiting) {
  std::string text = "waits at the futex" + at(waiting);
  if (!waiting.function.empty()) {
    text += ", in ";
    append_printable(text, waiting.function);
  }
  return text + "; what that stands for is not known";
}

}  // namespace

std::string WaitPhrases::thread(std::size_t index) const {
  return "thread " + inferior_ + std::to_string(numbers_[index]);
}

// What it waits for, with its verb.
std::string WaitPhrases::object(const Waiting& waiting) const {
  switch (waiting.kind) {
    case WaitKind::nothing:
      return running(waiting);
    case WaitKind::mutex:
      return "waits for " + typed(waiting, "mutex") + at(waiting);
    case WaitKind::rwlock:
      return std::string("waits to ") + (waiting.writes ? "write" : "read") + " under " +
             typed(waiting, "reader-writer lock") + at(waiting);
    case WaitKind::condition:
      return "waits for a condition variable, by its word" + at(waiting);
    case WaitKind::semaphore:
      return "waits for the semaphore" + at(waiting);
    case WaitKind::join:
      return waiting.owner ? "waits for " + thread(*waiting.owner) + " to end"
                           : "waits for a thread to end, at the word" + at(waiting);
    case WaitKind::barrier:
      return "waits for others at a barrier, by its word" + at(waiting);
    case WaitKind::once:
      return "waits for an initializer that another thread runs, by its word" + at(waiting);
    case WaitKind::future:
      return "waits for the result of a future, by its word" + at(waiting);
    case WaitKind::lock:
      return waiting.type == "stdio" ? "waits for the lock of a stream of stdio" + at(waiting)
                                     : "waits for " + typed(waiting, "lock") + at(waiting);
    case WaitKind::futex:
      return unknown_futex(waiting);
    case WaitKind::event:
      return waiting.type == "Go"
                 ? "waits for work from Go's runtime"
                 : "waits for an event in " + call_name(waiting) + behind_descriptor(waiting);
    case WaitKind::pipe:
    case WaitKind::socket:
    case WaitKind::terminal:
    case WaitKind::file:
      return "waits for a " + std::string(to_string(waiting.kind)) + " in " + call_name(waiting) +
             behind_descriptor(waiting);
    case WaitKind::descriptor:
      return "waits in " + call_name(waiting) + behind_descriptor(waiting);
    case WaitKind::poll:
      return "waits for events in " + call_name(waiting) + behind_descriptor(waiting);
    case WaitKind::sleep:
      return "sleeps";
    case WaitKind::child:
      return "waits for a child";
    case WaitKind::signal:
      return waiting.type == "Rust" ? "waits to be unparked" : "waits for a signal";
    case WaitKind::message:
      return "waits for a message or a semaphore of the system in " + call_name(waiting);
    case WaitKind::call:
      return "is in " + call_name(waiting) + behind_descriptor(waiting);
    case WaitKind::unknown:
      return "stands behind " + call_name(waiting) + "; whether it waits there is not known";
  }
  return {};
}

// Who has it, or why that is not known.
std::string WaitPhrases::holder(const Waiting& waiting) const {
  const bool is_lock = waiting.kind == WaitKind::mutex || waiting.kind == WaitKind::rwlock ||
                       waiting.kind == WaitKind::lock || waiting.kind == WaitKind::once;
  const std::string doubt =
      waiting.doubt.empty() ? std::string() : ": " + std::string(waiting.doubt);
  if (waiting.owner && is_lock) {
    return *waiting.owner == waiting.thread ? ", which it has itself"
                                            : ", which " + thread(*waiting.owner) + " has";
  }
  if (waiting.readers) {
    return ", which " + with_commas(*waiting.readers) +
           (*waiting.readers == 1 ? " reader has" : " readers have") + doubt;
  }
  if (waiting.owner_tid && !waiting.owner) {
    return ", which the thread with the id " + std::to_string(*waiting.owner_tid) + " has" + doubt;
  }
  return is_lock ? "; who has it is not known" + doubt : std::string();
}

std::string WaitPhrases::phrase(const Waiting& waiting) const {
  std::string text = object(waiting) + holder(waiting);
  if (waiting.timed && waiting.kind != WaitKind::sleep) {
    text += ", for a limited time";
  }
  return text;
}

std::vector<std::size_t> WaitPhrases::in_order(const WaitCycle& cycle) const {
  std::vector<std::size_t> threads = cycle.threads;
  const auto number = [this](std::size_t index) { return numbers_[index]; };
  const auto first = std::ranges::min_element(threads, {}, number);
  std::rotate(threads.begin(), first, threads.end());
  return threads;
}

std::string WaitPhrases::sentence(const WaitCycle& cycle) const {
  std::string text;
  const std::vector<std::size_t> threads = in_order(cycle);
  const std::size_t told = std::min(threads.size(), kMostLinks);
  for (std::size_t link = 0; link < told; ++link) {
    text += text.empty() ? "T" : "; t";
    const std::size_t index = threads[link];
    text += thread(index).substr(1) + " " + object(waits_[index]) + holder(waits_[index]);
  }
  if (told < threads.size()) {
    text += "; and so on, through " + with_commas(threads.size()) + " threads, back to " +
            thread(threads.front());
  }
  if (cycle.lasts) {
    return text + ": a deadlock.";
  }
  const auto timed =
      std::ranges::find_if(cycle.threads, [&](std::size_t index) { return waits_[index].timed; });
  return text + ": a cycle, which ends when the time of " + thread(*timed) + " is over.";
}

}  // namespace whocall
