// A strategy finds the unwinding rule for one activation; it does not step. To add one:
// write a file in unwind/strategies and give it a row in strategies.cpp there. Nothing else
// changes.
#pragma once

#include <forward_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "process/process_image.h"
#include "unwind/analysis/function_analyser.h"
#include "unwind/backtrace.h"
#include "unwind/code/code_map.h"
#include "unwind/rows/activation.h"
#include "unwind/rows/cfi_tables.h"
#include "unwind/rows/row.h"

namespace whocall {

class Judge;
class Strategy;

// How much a walk may still search. A stack of one word again and again makes every frame cost
// thousands of tests, and one of nothing but addresses in a large program has all of its code
// analysed; a walk ends when it has done more of that than any true stack asks for.
struct SearchBudget {
  std::size_t candidates = 200'000;  // words that look like return addresses
  std::size_t glances = 1'000'000;   // such words of which only the call before them is looked at
  std::size_t words = 50'000'000;    // words of any kind
  std::uint64_t code = std::uint64_t{4} << 20U;  // what the analyser may have followed, in bytes
};

// What strategies have read from the frames of a walk so far, so that no step looks through all of
// them once more: a made-up chain has as many frames as its stack has words.
struct WalkNotes {
  // By the callee's pc: bytes from its stack pointer to its CFA as the last scan found it; and how
  // many frames were looked through.
  std::unordered_map<Address, std::int64_t> scanned_distances;
  std::size_t scanned = 0;
  // By a function's first address: what return_slot.h tells of it.
  std::unordered_map<Address, std::optional<std::int64_t>> cfas_above_saved_return;
  // Runtime addresses behind what looks like a call: whether an instruction of the function does
  // end there.
  std::unordered_map<Address, bool> instruction_ends;
  // Callbacks from C into Go among the frames that were looked through.
  std::uint64_t callbacks = 0;
  std::size_t searched_for_callbacks = 0;
};

// What strategies may look at while they search, and where rows made on the fly are kept.
struct WalkContext {
  const ProcessImage& process;
  CfiTables& cfi;
  CodeMap& code;
  FunctionAnalyser& analyser;
  Judge& judge;
  std::forward_list<UnwindRow>& made_rows;
  // The strategies whose rules are exact (trust analysis or better), as far as they are switched
  // on, in order: what searching strategies test their candidates with.
  const std::vector<Strategy*>& exact;
  const bool& may_search;            // whether the scan is switched on
  const std::vector<Frame>& frames;  // found so far, innermost first
  SearchBudget& budget;
  WalkNotes& notes;
  // Whether nobody called the last frame, whose address stood where a return address should be.
  const bool& planted;

  [[nodiscard]] bool may_search_on() const {
    return budget.candidates > 0 && budget.words > 0 && analyser.followed() < budget.code;
  }

  // The row lives until the walk ends.
  const UnwindRow* keep(UnwindRow row) const {
    made_rows.push_front(std::move(row));
    return &made_rows.front();
  }
};

class Strategy {
 public:
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // the word for -without
  // The trust of frames found this way.
  [[nodiscard]] virtual Trust trust() const = 0;
  // The rule for `callee`, or null where this strategy has nothing to say. The walker applies it,
  // judges the caller it leads to, and asks the next strategy when it is refused.
  virtual const UnwindRow* find(const Activation& callee, const WalkContext& context) = 0;
  // Whether find() hangs there on the callee's pc alone, and on whether it was interrupted, so that
  // it need not be asked again where the same pc comes back.
  [[nodiscard]] virtual bool hangs_on_pc(const Activation& /*callee*/,
                                         const WalkContext& /*context*/) {
    return false;
  }
  // How the rule was found, as the beginning of a sentence: "the .eh_frame of libc.so.6 gives".
  [[nodiscard]] virtual std::string explain(const Activation& callee, const UnwindRow& row,
                                            const WalkContext& context) const = 0;
  // What would make frames of this kind surer; empty when nothing would.
  [[nodiscard]] virtual std::string remedy() const { return {}; }
};

}  // namespace whocall
