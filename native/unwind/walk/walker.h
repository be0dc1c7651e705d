// The one walker: from a thread's registers to its frames.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "process/process_image.h"
#include "unwind/analysis/function_analyser.h"
#include "unwind/backtrace.h"
#include "unwind/code/code_map.h"
#include "unwind/judge/judge.h"
#include "unwind/rows/cfi_tables.h"
#include "unwind/strategy.h"
#include "unwind/walk/step_facts.h"

namespace whocall {

struct WalkOptions {
  std::vector<std::string> without;  // names of strategies that are switched off
  std::size_t max_frames = std::size_t{1} << 20U;
  bool explain = false;                   // fill Frame::explanation
  bool registers = false;                 // fill Frame::registers and Frame::saved
  std::function<void()> check_interrupt;  // called now and then; may throw to end the walk
};

// Holds what walks of one process share: tables, caches, strategies. A walk never throws on bad
// memory, never loops (the stack pointer moves up, or the stack changes, which it may do only
// StackSwitches::kLimit times and never twice to the same place), and ends after max_frames frames
// at the latest.
class Walker {
 public:
  // `symbolizer` lends its tables of functions; without one the walker makes its own.
  explicit Walker(const ProcessImage& process, std::shared_ptr<Symbolizer> symbolizer = nullptr);

  // Throws std::invalid_argument for a strategy that does not exist, and what check_interrupt
  // throws.
  Backtrace walk(const Thread& thread, const WalkOptions& options);

  [[nodiscard]] const ProcessImage& process() const { return process_; }
  CfiTables& cfi() { return cfi_; }
  CodeMap& code() { return code_; }
  FunctionAnalyser& analyser() { return analyser_; }
  Judge& judge() { return judge_; }
  Symbolizer& symbolizer() { return *symbolizer_; }
  [[nodiscard]] const StepFacts& facts() const { return facts_; }

 private:
  class Walk;  // the state of one walk
  // What is left of the strategies where some are switched off.
  struct Selection {
    std::vector<std::string> without;
    std::vector<Strategy*> all;    // in order
    std::vector<Strategy*> exact;  // of trust analysis or better
    bool may_search = false;       // whether one of them searches the stack
  };
  [[nodiscard]] Selection select(const std::vector<std::string>& without) const;

  const ProcessImage& process_;
  std::shared_ptr<Symbolizer> symbolizer_;
  CfiTables cfi_;
  CodeMap code_;
  FunctionAnalyser analyser_;
  Judge judge_;
  StepFacts facts_;
  std::vector<std::unique_ptr<Strategy>> strategies_;
  Selection selection_;  // of the last walk
};

}  // namespace whocall
