// A thread's events as calls that begin and end: what was left without a return, or whose return
// nobody sees, is closed where that shows.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tracing/trace_events.h"

namespace whocall {

enum class CallEnd : std::uint8_t {
  returned,
  gone,     // by now: when it returned nobody has seen
  left,     // by longjmp, an exception or the end of its thread
  running,  // at the end of the trace
  open,     // the same, where nobody sees returns: it may have ended
};

struct OpenCall {
  Address function = 0;
  Address call_site = 0;
  std::uint32_t depth = 0;    // as the program counted it
  std::uint64_t began = 0;    // nanoseconds
  bool began_before = false;  // what the ring holds: then `began` is where the ring begins
};

// What happens next in a thread.
struct CallStep {
  enum class Kind : std::uint8_t {
    begin,   // `call`, which is open from now on
    end,     // `call`, which was the innermost open one
    orphan,  // a return of `call`, which began before what the ring holds
    fork,    // `call.call_site` is the parent's process id
  };
  Kind kind = Kind::begin;
  OpenCall call;
  std::uint64_t time = 0;  // nanoseconds
  CallEnd how = CallEnd::returned;
  std::uint64_t event = 0;  // the number of the one that shows it; kNoEvent at the end of all
};
inline constexpr std::uint64_t kNoEvent = ~std::uint64_t{0};

// By return addresses and addresses in functions, where the function around them begins: of what is
// known.
using FunctionHomes = std::unordered_map<Address, Address>;

class CallReplay {
 public:
  // `outer`: how many of the shadow stack's activations began before all that the ring holds and
  // enclose it (measure_thread tells): they are open from the beginning.
  // `homes`: where nobody sees returns, who calls tells what has returned before.
  CallReplay(const TraceBytes& bytes, const TraceThread& thread, double rate, std::size_t outer,
             const FunctionHomes& homes);
  // Null at the end. Valid until the next call.
  const CallStep* next();
  // Open calls, outermost first; after a step of kind `end` without the one that it closed.
  [[nodiscard]] const std::vector<OpenCall>& open() const { return open_; }
  [[nodiscard]] std::uint64_t damaged() const { return cursor_.damaged(); }

 private:
  const CallStep* advance();
  bool close_next();
  [[nodiscard]] bool has_returned() const;
  [[nodiscard]] std::optional<Address> home(Address address) const;
  void take(const TraceEvent& event);
  void end_top(CallEnd how);
  [[nodiscard]] CallEnd unseen_end() const;

  const TraceThread& thread_;
  const FunctionHomes& homes_;
  EventCursor cursor_;
  std::vector<OpenCall> open_;
  std::optional<TraceEvent> pending_;  // waits until what it leaves is closed
  bool at_end_ = false;
  std::uint64_t time_ = 0;
  CallStep step_;
};

}  // namespace whocall
