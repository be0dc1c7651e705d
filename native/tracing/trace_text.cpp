#include "tracing/trace_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/hex.h"
#include "base/interrupt.h"
#include "base/printable_text.h"
#include "report/form/text_block.h"

namespace whocall {
namespace {

constexpr std::uint32_t kMostIndented = 60;  // levels; deeper ones stand under these

void append_number(std::string& out, std::uint64_t number, std::size_t width, char fill = ' ') {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const auto size = static_cast<std::size_t>(end - digits.data());
  out.append(width > size ? width - size : 0, fill);
  out.append(digits.data(), size);
}

// "120 ns", "1.234 us", "15.020 ms", "2.100 s", in 10 characters or more.
void append_duration(std::string& out, std::uint64_t nanoseconds) {
  struct Unit {
    std::uint64_t of;  // nanoseconds
    std::string_view name;
  };
  static constexpr std::array<Unit, 3> kUnits = {
      {{1'000'000'000, " s "}, {1'000'000, " ms"}, {1'000, " us"}}};
  for (const Unit& unit : kUnits) {
    if (nanoseconds >= unit.of) {
      append_number(out, nanoseconds / unit.of, 3);
      out += '.';
      append_number(out, nanoseconds % unit.of / (unit.of / 1000), 3, '0');
      out += unit.name;
      return;
    }
  }
  append_number(out, nanoseconds, 7);
  out += " ns";
}

std::string_view remark_on(CallEnd how) {
  switch (how) {
    case CallEnd::left:
      return ", left without a return";
    case CallEnd::running:
      return ", still running";
    case CallEnd::open:
      return ", not seen to end";
    case CallEnd::returned:
    case CallEnd::gone:
      break;
  }
  return "";
}

void append_name(std::string& out, std::string_view told, Address address) {
  if (told.empty()) {
    out += hex(address);
  } else {
    append_printable(out, told);
  }
}

}  // namespace

TraceText::TraceText(const Trace& trace, const std::vector<std::size_t>& threads,
                     const CallChoice& choice, const TraceNames& names, const TracePaint& paint,
                     TracePart part)
    : trace_(trace),
      names_(names),
      paint_(paint),
      part_(std::move(part)),
      steps_(trace, threads, choice) {
  part_.origin = part_.origin == 0 ? trace.origin() : part_.origin;
}

bool TraceText::is_told(const ShownSteps& steps, const ShownStep& shown) const {
  const std::size_t thread = steps.thread();
  const bool is_new = thread >= part_.from.size() || shown.step.event >= part_.from[thread];
  return shown.step.event == kNoEvent ? !part_.goes_on : is_new;
}

std::string TraceText::next() {
  out_.clear();
  std::size_t turn = 0;
  while (out_.size() < kTextBlock) {
    check_interrupt_at(turn++, kManyEntries);
    ShownSteps* steps = steps_.earliest();
    if (steps == nullptr) {
      break;
    }
    if (is_told(*steps, *steps->front())) {
      line(*steps);
    } else {
      steps->pop();
    }
  }
  return out_;
}

// Seconds since the trace began, thread, duration, indentation.
void TraceText::begin_line(const ShownStep& shown, std::size_t thread, std::uint64_t duration,
                           bool has_duration, std::string_view mark) {
  const std::uint64_t time = shown.step.time;
  const std::uint64_t passed = time > part_.origin ? time - part_.origin : 0;
  out_ += paint_.metadata;
  append_number(out_, passed / 1'000'000'000, 5);
  out_ += '.';
  append_number(out_, passed % 1'000'000'000, 9, '0');
  append_number(out_, trace_.threads()[thread].tid, 8);
  out_ += ' ';
  if (has_duration) {
    const std::size_t begin = out_.size() - 1;
    append_duration(out_, duration);
    const std::size_t digits = out_.find_first_not_of(' ', begin);
    out_.replace(digits - mark.size(), mark.size(), mark);
  } else {
    out_.append(10, ' ');
  }
  out_ += paint_.metadata.empty() ? "" : paint_.reset;
  out_ += ' ';
  out_.append(std::size_t{2} * std::min(shown.depth, kMostIndented) + 1, ' ');
  if (shown.depth > kMostIndented) {
    out_ += '(';
    append_number(out_, shown.depth, 0);
    out_ += ") ";
  }
}

void TraceText::name(const CallStep& step) {
  out_ += paint_.function;
  append_name(out_, names_.function(step.call.function), step.call.function);
  out_ += paint_.function.empty() ? "" : paint_.reset;
}

void TraceText::caller(const ShownStep& shown) {
  out_ += paint_.metadata;
  if (shown.inlined) {
    out_ += "  <- inlined into ";
    append_name(out_, names_.function(shown.around), shown.around);
  } else {
    out_ += "  <- ";
    append_name(out_, names_.call_site(shown.step.call.call_site), shown.step.call.call_site);
  }
  out_ += paint_.metadata.empty() ? "" : paint_.reset;
}

void TraceText::end(const ShownStep& shown) {
  out_ += "} ";
  name(shown.step);
  const std::string_view remark = remark_on(shown.step.how);
  if (!remark.empty()) {
    out_ += paint_.highlight;
    out_ += remark;
    out_ += paint_.highlight.empty() ? "" : paint_.reset;
  }
}

void TraceText::line(ShownSteps& steps) {
  const ShownStep shown = *steps.front();
  const ShownStep* after = steps.second();
  const bool begins = shown.step.kind == CallStep::Kind::begin;
  const bool is_leaf = begins && after != nullptr && is_told(steps, *after) &&
                       after->step.kind == CallStep::Kind::end &&
                       (after->step.how == CallEnd::returned || after->step.how == CallEnd::gone) &&
                       !shown.step.call.began_before;
  const bool ends = shown.step.kind == CallStep::Kind::end && !shown.step.call.began_before;
  const std::uint64_t until = is_leaf ? after->step.time : shown.step.time;
  const CallEnd how = is_leaf ? after->step.how : shown.step.how;
  const bool is_bound = (is_leaf || ends) && how == CallEnd::gone;
  begin_line(shown, steps.thread(), until - std::min(until, shown.step.call.began), is_leaf || ends,
             is_bound ? "<" : "");
  switch (shown.step.kind) {
    case CallStep::Kind::begin:
      name(shown.step);
      out_ += is_leaf ? "" : " {";
      caller(shown);
      out_ += shown.step.call.began_before ? "  (began before)" : "";
      break;
    case CallStep::Kind::end:
      end(shown);
      break;
    case CallStep::Kind::orphan:
      end(shown);
      out_ += "  (began before)";
      break;
    case CallStep::Kind::fork:
      out_ += "forked from process ";
      append_number(out_, shown.step.call.call_site, 0);
      break;
  }
  out_ += '\n';
  steps.pop();
  if (is_leaf) {
    steps.pop();
  }
}

}  // namespace whocall
