// The call tree as indented text, some 64 KiB at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing/merged_steps.h"
#include "tracing/trace_names.h"

namespace whocall {

// SGR sequences around parts of a line; empty: none.
struct TracePaint {
  std::string function;
  std::string metadata;
  std::string highlight;
  std::string reset;
};

// What of a trace is told that grows while it is read.
struct TracePart {
  std::vector<std::uint64_t> from;  // by thread, the first event that is new; none: all are
  std::uint64_t origin = 0;         // that times are counted from, nanoseconds; 0: the trace's own
  bool goes_on = false;             // what is open at the end is not told
};

class TraceText {
 public:
  // All arguments must outlive the object.
  TraceText(const Trace& trace, const std::vector<std::size_t>& threads, const CallChoice& choice,
            const TraceNames& names, const TracePaint& paint, TracePart part = {});
  // Whole lines; empty at the end.
  std::string next();

 private:
  [[nodiscard]] bool is_told(const ShownSteps& steps, const ShownStep& shown) const;
  void line(ShownSteps& steps);
  void begin_line(const ShownStep& shown, std::size_t thread, std::uint64_t duration,
                  bool has_duration, std::string_view mark);
  void name(const CallStep& step);
  void caller(const ShownStep& shown);
  void end(const ShownStep& shown);

  const Trace& trace_;
  const TraceNames& names_;
  const TracePaint& paint_;
  TracePart part_;
  MergedSteps steps_;
  std::string out_;
};

}  // namespace whocall
