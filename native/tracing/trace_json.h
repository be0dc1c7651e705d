// The calls as JSON for Perfetto and chrome://tracing (the Trace Event Format), a complete event
// ("X") for each, some 64 KiB at a time.
#pragma once

#include <string>
#include <vector>

#include "tracing/merged_steps.h"
#include "tracing/trace_names.h"

namespace whocall {

class TraceJson {
 public:
  // All arguments must outlive the object.
  TraceJson(const Trace& trace, const std::vector<std::size_t>& threads, const CallChoice& choice,
            const TraceNames& names);
  // A piece of the document; empty at the end.
  std::string next();

 private:
  void head();
  void item(const ShownStep& shown, std::size_t index);
  void begin_item();

  const Trace& trace_;
  std::vector<std::size_t> threads_;
  const TraceNames& names_;
  MergedSteps steps_;
  std::string out_;
  bool has_items_ = false;
  bool has_begun_ = false;
  bool is_done_ = false;
};

}  // namespace whocall
