#include "tracing/trace_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "base/hex.h"
#include "base/interrupt.h"
#include "base/json_text.h"

namespace whocall {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10U;  // bytes

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits{};
  out.append(digits.data(),
             std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

// Microseconds, as the format wants them, to the nanosecond.
void append_microseconds(std::string& out, std::uint64_t nanoseconds) {
  append_number(out, nanoseconds / 1000);
  const std::uint64_t rest = nanoseconds % 1000;
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

void append_name(std::string& out, std::string_view told, Address address) {
  append_json_string(out, told.empty() ? std::string_view(hex(address)) : told);
}

std::string_view word_for(CallEnd how) {
  switch (how) {
    case CallEnd::left:
      return "left";
    case CallEnd::running:
      return "running";
    case CallEnd::open:
      return "not seen";
    case CallEnd::gone:
      return "by then";
    case CallEnd::returned:
      break;
  }
  return "";
}

}  // namespace

TraceJson::TraceJson(const Trace& trace, const std::vector<std::size_t>& threads,
                     const CallChoice& choice, const TraceNames& names)
    : trace_(trace), threads_(threads), names_(names), steps_(trace, threads, choice) {}

void TraceJson::begin_item() {
  out_ += has_items_ ? ",\n" : "\n";
  has_items_ = true;
}

void TraceJson::head() {
  out_ += R"({"displayTimeUnit": "ns", "traceEvents": [)";
  for (const std::size_t index : threads_) {
    const TraceThread& thread = trace_.threads()[index];
    begin_item();
    out_ += R"({"ph": "M", "name": "thread_name", "pid": )";
    append_number(out_, thread.pid);
    out_ += R"(, "tid": )";
    append_number(out_, thread.tid);
    out_ += R"(, "args": {"name": )";
    append_json_string(out_, thread.name);
    out_ += "}}";
  }
}

// A call, when it ends.
void TraceJson::item(const ShownStep& shown, std::size_t index) {
  const CallStep& step = shown.step;
  if (step.kind != CallStep::Kind::end && step.kind != CallStep::Kind::orphan) {
    return;
  }
  const TraceThread& thread = trace_.threads()[index];
  const std::uint64_t origin = trace_.origin();
  const std::uint64_t began = step.call.began_before || step.call.began < origin
                                  ? std::max(trace_.measure(index).first, origin)
                                  : step.call.began;
  // One that began with the last event takes no time, and would stand behind those that it is in.
  const bool runs = step.how == CallEnd::running || step.how == CallEnd::open;
  const std::uint64_t ended = step.time + (runs ? 1 : 0);
  begin_item();
  out_ += R"({"ph": "X", "name": )";
  append_name(out_, names_.function(step.call.function), step.call.function);
  out_ += R"(, "pid": )";
  append_number(out_, thread.pid);
  out_ += R"(, "tid": )";
  append_number(out_, thread.tid);
  out_ += R"(, "ts": )";
  append_microseconds(out_, began - origin);
  out_ += R"(, "dur": )";
  append_microseconds(out_, ended > began ? ended - began : 0);
  out_ += R"(, "args": {"from": )";
  append_name(out_, names_.call_site(step.call.call_site), step.call.call_site);
  if (step.call.began_before) {
    out_ += R"(, "began": "before")";
  }
  const std::string_view how = word_for(step.how);
  if (!how.empty()) {
    out_ += R"(, "end": ")";
    out_ += how;
    out_ += '"';
  }
  out_ += "}}";
}

std::string TraceJson::next() {
  out_.clear();
  if (!has_begun_) {
    has_begun_ = true;
    head();
  }
  std::size_t turn = 0;
  while (!is_done_ && out_.size() < kBlock) {
    check_interrupt_at(turn++, kManyEntries);
    ShownSteps* steps = steps_.earliest();
    if (steps == nullptr) {
      out_ += "\n]}\n";
      is_done_ = true;
      break;
    }
    item(*steps->front(), steps->thread());
    steps->pop();
  }
  return out_;
}

}  // namespace whocall
