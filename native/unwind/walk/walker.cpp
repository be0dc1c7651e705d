#include "unwind/walk/walker.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/hex.h"
#include "unwind/rows/apply_row.h"
#include "unwind/walk/outermost.h"
#include "unwind/walk/quick_walk.h"

namespace whocall {

struct Walker::Attempt {
  const Strategy* strategy = nullptr;
  const UnwindRow* row = nullptr;
  AppliedRow proposal;
  Judgement judgement;
};

class Walker::Walk {
 public:
  Walk(Walker& walker, const WalkOptions& options)
      : process_(walker.process_),
        options_(options),
        facts_(walker.facts_),
        context_{walker.process_, walker.cfi_, walker.code_, walker.analyser_,
                 walker.judge_,   made_rows_,  exact_,       may_search_,
                 result_.frames,  budget_,     notes_} {
    budget_.code += walker.analyser_.followed();
    facts_.begin_walk(options.without);
    for (const auto& strategy : walker.strategies_) {
      if (std::ranges::find(options.without, strategy->name()) == options.without.end()) {
        strategies_.push_back(strategy.get());
        may_search_ = may_search_ || strategy->trust() == Trust::scan;
        if (strategy->trust() <= Trust::analysis) {
          exact_.push_back(strategy.get());
        }
      }
    }
  }

  Backtrace run(const Thread& thread) {
    Activation activation;
    activation.pc = thread.registers.get(process_.arch->registers.pc).value_or(0);
    activation.registers = thread.registers;
    activation.interrupted = true;
    result_.frames.reserve(kUsualDepth);
    add_frame(activation, nullptr);
    // Facts tell neither why a strategy was taken nor all registers.
    const bool may_be_quick = facts_.usable() && !options_.explain && !options_.registers;
    QuickWalk quick(process_, facts_, may_search_, result_.frames);
    quick.begin(activation);
    while (true) {
      if (result_.frames.size() % kInterruptInterval == 0 && options_.check_interrupt) {
        options_.check_interrupt();
      }
      if (result_.frames.size() >= options_.max_frames) {
        result_.stop = {StopReason::frame_limit,
                        std::to_string(options_.max_frames) + " frames; the limit is a setting"};
        break;
      }
      if (may_be_quick && quick.step(!context_.may_search_on())) {
        continue;
      }
      activation = quick.activation();
      const auto accepted = find_caller(activation);
      if (!accepted) {
        break;
      }
      learn(activation, *accepted);
      planted_ = accepted->judgement.planted;
      activation = accepted->proposal.caller;
      activation.interrupted = activation.interrupted || accepted->judgement.planted;
      add_frame(activation, &*accepted);
      quick.begin(activation);
    }
    return std::move(result_);
  }

 private:
  static constexpr std::size_t kInterruptInterval = 256;
  static constexpr std::size_t kUsualDepth = 32;

  // Asks the strategies in turn. Empty at the end of the stack or when all fail; then the stop
  // reason is set.
  std::optional<Attempt> find_caller(const Activation& callee) {
    refused_.clear();
    bool asked_outermost = false;
    for (Strategy* strategy : strategies_) {
      // Tables know by themselves where stacks begin; the strategies after them do not.
      if (strategy->trust() > Trust::cfi && !std::exchange(asked_outermost, true)) {
        if (const auto why = no_caller_to_expect(callee)) {
          result_.stop = {StopReason::end_of_stack, *why};
          return std::nullopt;
        }
      }
      if (strategy->trust() > Trust::cfi && !context_.may_search_on()) {
        break;
      }
      const UnwindRow* row = strategy->find(callee, context_);
      if (row == nullptr) {
        continue;
      }
      Attempt attempt{strategy, row, apply_row(*row, callee, *process_.arch, *process_.memory), {}};
      attempt.judgement = context_.judge.weigh(callee, *row, attempt.proposal, strategy->trust());
      if (attempt.judgement.refusal == Refusal::end_of_stack) {
        note_cfa(attempt);
        result_.stop = {StopReason::end_of_stack, end_detail(attempt)};
        return std::nullopt;
      }
      if (attempt.judgement.refusal == Refusal::none) {
        attempt.judgement.refusal = check_stack_switch(callee, attempt.proposal);
      }
      if (attempt.judgement.refusal == Refusal::none) {
        return attempt;
      }
      refused_.push_back(attempt);
    }
    stop_without_caller(callee);
    return std::nullopt;
  }

  // Keeps what will be so again at this address, whatever its frame.
  void learn(const Activation& callee, const Attempt& accepted) {
    const CallMatch call = accepted.judgement.call;
    const bool called = call != CallMatch::no_call && call != CallMatch::unreadable;
    if (!called || callee.interrupted || !refused_.empty() || !facts_.usable() ||
        accepted.row->signal_frame || accepted.row->injected) {
      return;
    }
    for (Strategy* strategy : strategies_) {
      const bool chosen = strategy == accepted.strategy;
      const bool chain = chosen && strategy->trust() == Trust::frame_pointer;
      if (!chain && !strategy->hangs_on_pc(callee, context_)) {
        return;
      }
      if (chosen) {
        break;
      }
    }
    if (facts_.at(callee.pc) == nullptr) {
      facts_.learn_step(callee.pc, *accepted.row, accepted.strategy->trust(),
                        accepted.strategy->name());
    }
    facts_.learn_call(callee.pc, accepted.proposal.caller.pc, call);
  }

  // The outermost frame has a CFA too, when its row could be applied.
  void note_cfa(const Attempt& attempt) {
    Frame& callee = result_.frames.back();
    if (attempt.proposal.failure != ApplyFailure::no_cfa && callee.cfa == 0) {
      callee.cfa = attempt.proposal.cfa;
    }
  }

  // Above a function whose address was put on the stack by hand nothing is a caller, whatever lies
  // there; nor above an entry point. Its own unwind table was asked before.
  std::optional<std::string> no_caller_to_expect(const Activation& callee) {
    const bool signal = std::ranges::any_of(
        refused_, [](const Attempt& attempt) { return attempt.row->signal_frame; });
    if (planted_ && !signal) {
      return "no call leads to " + hex(callee.pc) + ": the stack was started there by hand";
    }
    return outermost_function(callee, process_, context_.code);
  }

  // Only steps that do not go up the stack can lead in a circle, so these alone are remembered.
  //
  // Folklore. Situation: signal frames or the rules of a runtime lead from one stack to another and
  // back. Example: a damaged Go program, whose two stacks name each other. Remedy: who arrives for
  // the second time at one pc with one stack pointer would do so for ever.
  Refusal check_stack_switch(const Activation& callee, const AppliedRow& proposal) {
    const Register sp = process_.arch->registers.sp;
    const auto from = callee.registers.get(sp);
    const auto to = proposal.caller.registers.get(sp);
    if (from && to && *to > *from) {
      return Refusal::none;
    }
    const std::pair arrival(proposal.caller.pc, to.value_or(0));
    if (std::ranges::find(arrivals_, arrival) != arrivals_.end() ||
        arrivals_.size() >= kStackSwitchLimit) {
      return Refusal::circle;
    }
    arrivals_.push_back(arrival);
    return Refusal::none;
  }

  void stop_without_caller(const Activation& callee) {
    const auto sp = callee.registers.get(process_.arch->registers.sp);
    if (sp && process_.memory->run_at(*sp).empty()) {
      result_.stop = {StopReason::unreadable, "the stack at " + hex(*sp) + " cannot be read"};
      return;
    }
    std::string detail = "no acceptable caller of " + hex(callee.pc);
    if (process_.module_at(callee.pc) == nullptr && process_.is_code(callee.pc)) {
      detail +=
          ", in code that " + program() + " made at run time, which may keep its callers elsewhere";
    }
    if (!context_.may_search_on()) {
      const SearchBudget whole;
      detail += context_.analyser.followed() >= budget_.code
                    ? ", after " + std::to_string(whole.code) + " bytes of code were analysed"
                    : ", after " +
                          std::to_string(budget_.words == 0 ? whole.words : whole.candidates) +
                          " places were tried";
    }
    for (const Attempt& attempt : refused_) {
      detail += "; " + std::string(attempt.strategy->name()) + " " +
                describe(attempt.judgement.refusal, attempt.proposal);
    }
    result_.stop = {StopReason::no_caller, std::move(detail)};
  }

  // The name of its file: who made code that no file holds.
  [[nodiscard]] std::string program() const {
    const auto executable = std::ranges::find_if(process_.modules, &Module::is_executable);
    const std::string& path =
        executable != process_.modules.end() ? executable->path : process_.exe_path;
    const std::string name = path.substr(path.rfind('/') + 1);
    return name.empty() ? "the program" : name;
  }

  void add_frame(const Activation& activation, const Attempt* found_by) {
    Frame frame;
    frame.pc = activation.pc;
    frame.lookup_pc = activation.lookup_pc();
    frame.sp = activation.registers.get(process_.arch->registers.sp).value_or(0);
    frame.interrupted = activation.interrupted;
    if (found_by != nullptr) {
      Frame& callee = result_.frames.back();
      callee.cfa = found_by->proposal.cfa;
      callee.signal_trampoline = found_by->row->signal_frame;
      if (options_.registers) {
        callee.saved = saved_words_of(callee, *found_by);
      }
      frame.trust = trust_of(*found_by);
      frame.evidence = found_by->judgement.evidence;
      frame.strategy = found_by->strategy->name();
    }
    if (options_.explain) {
      frame.explanation = explain(found_by);
    }
    if (options_.registers) {
      frame.registers = std::make_shared<const Registers>(activation.registers);
    }
    result_.frames.push_back(std::move(frame));
  }

  static Trust trust_of(const Attempt& found_by) {
    return found_by.judgement.checked_context ? Trust::context : found_by.strategy->trust();
  }

  std::vector<SavedWord> saved_words_of(const Frame& callee, const Attempt& caller) const {
    const Activation activation{callee.pc, *callee.registers, callee.interrupted};
    return saved_words(*caller.row, activation, callee.cfa, *process_.arch, *process_.memory);
  }

  std::string explain(const Attempt* found_by);
  static std::string end_detail(const Attempt& attempt) {
    if (attempt.proposal.failure != ApplyFailure::outermost) {
      return "its return address is zero";
    }
    return attempt.strategy->trust() == Trust::analysis
               ? "its code has given up its return address"
               : "the unwind tables say that nothing called it";
  }

  const ProcessImage& process_;
  const WalkOptions& options_;
  StepFacts& facts_;
  std::deque<UnwindRow> made_rows_;
  WalkContext context_;
  std::vector<Strategy*> strategies_;
  std::vector<Strategy*> exact_;
  bool may_search_ = false;
  std::vector<Attempt> refused_;                       // of the present step
  std::vector<std::pair<Address, Address>> arrivals_;  // pc and sp behind stack switches
  SearchBudget budget_;
  WalkNotes notes_;
  bool planted_ = false;  // the present frame: see Judgement
  Backtrace result_;
};

// "the .eh_frame row of /x/libc.so.6 (CFA rsp+16, return address c-8) leads to it; a call to the
// frame below stands before the return address."
std::string Walker::Walk::explain(const Attempt* found_by) {
  if (found_by == nullptr) {
    return "the thread's own registers.";
  }
  Activation callee;
  callee.pc = result_.frames.back().pc;
  callee.interrupted = result_.frames.back().interrupted;
  std::string text = found_by->strategy->explain(callee, *found_by->row, context_) + " leads to it";
  const EvidenceSet& evidence = found_by->judgement.evidence;
  if (evidence.has(Evidence::call_target)) {
    text += "; the call before it goes to the function below";
  } else if (evidence.has(Evidence::call_before)) {
    text += "; a call instruction stands before it";
  }
  for (const Attempt& attempt : refused_) {
    text += "; " + std::string(attempt.strategy->name()) + " " +
            describe(attempt.judgement.refusal, attempt.proposal);
  }
  text += ".";
  if (const std::string remedy = found_by->strategy->remedy(); !remedy.empty()) {
    text += " " + remedy + ".";
  }
  return text;
}

Walker::Walker(const ProcessImage& process, std::shared_ptr<Symbolizer> symbolizer)
    : process_(process),
      symbolizer_(symbolizer ? std::move(symbolizer) : std::make_shared<Symbolizer>(process)),
      cfi_(process),
      code_(process, cfi_, *symbolizer_),
      analyser_(process, code_),
      judge_(process, code_),
      facts_(*process.arch),
      strategies_(make_strategies(*process.arch)) {}

Backtrace Walker::walk(const Thread& thread, const WalkOptions& options) {
  for (const std::string& name : options.without) {
    const auto& known = strategy_names();
    if (std::ranges::find(known, name) == known.end()) {
      throw std::invalid_argument("there is no strategy \"" + name + "\"");
    }
  }
  return Walk(*this, options).run(thread);
}

}  // namespace whocall
