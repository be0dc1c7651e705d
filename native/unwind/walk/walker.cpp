#include "unwind/walk/walker.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/hex.h"
#include "unwind/judge/sentences.h"
#include "unwind/rows/apply_row.h"
#include "unwind/search/damaged_return.h"
#include "unwind/strategies/strategies.h"
#include "unwind/walk/outermost.h"
#include "unwind/walk/quick_walk.h"
#include "unwind/walk/stack_switches.h"
#include "unwind/walk/suspect_caller.h"
#include "unwind/walk/synthetic_return.h"

namespace whocall {

class Walker::Walk {
 public:
  Walk(Walker& walker, const WalkOptions& options)
      : process_(walker.process_),
        options_(options),
        facts_(walker.facts_),
        selection_(walker.selection_),
        context_{walker.process_, walker.cfi_, walker.code_,     walker.analyser_,
                 walker.judge_,   made_rows_,  selection_.exact, selection_.may_search,
                 result_.frames,  budget_,     notes_,           planted_} {
    budget_.code += walker.analyser_.followed();
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
    QuickWalk quick(process_, facts_, selection_.may_search, result_.frames);
    quick.begin(activation, false);
    while (true) {
      if (result_.frames.size() % kInterruptInterval == 0 && options_.check_interrupt) {
        options_.check_interrupt();
      }
      if (result_.frames.size() >= options_.max_frames) {
        result_.stop = {StopReason::frame_limit,
                        std::to_string(options_.max_frames) + " frames; the limit is a setting"};
        break;
      }
      if (may_be_quick) {
        const bool tables_only = !context_.may_search_on();
        if (quick.go_on(tables_only, until_looked_after())) {
          continue;
        }
        if (quick.ends_here(tables_only, result_.stop)) {
          break;
        }
      }
      if (options_.check_interrupt) {
        options_.check_interrupt();
      }
      activation = quick.activation();
      planted_ = planted_ && quick.at_start();
      const auto accepted = find_caller(activation);
      if (!accepted) {
        break;
      }
      learn(activation, *accepted);
      if (planted_ && accepted->strategy->trust() == Trust::scan) {
        result_.frames.back().evidence.add(Evidence::return_replaced);
        replacing_.insert(result_.frames.back().pc);
      }
      planted_ = accepted->judgement.planted || accepted->doubt >= CallDoubt::grave;
      disproved_ = accepted->doubt == CallDoubt::disproved;
      searched_ = searched_ || accepted->strategy->trust() == Trust::scan;
      activation = accepted->proposal.caller;
      activation.interrupted = activation.interrupted || planted_;
      add_frame(activation, &*accepted);
      quick.begin(activation, planted_);
    }
    return std::move(result_);
  }

 private:
  static constexpr std::size_t kInterruptInterval = 256;
  static constexpr std::size_t kUsualDepth = 32;

  // How many frames there may be until the loop is to look at the limit and for an interrupt.
  [[nodiscard]] std::size_t until_looked_after() const {
    const std::size_t known = result_.frames.size();
    return std::min(options_.max_frames - known, kInterruptInterval - known % kInterruptInterval);
  }

  // Asks the strategies in turn. Empty at the end of the stack or when all fail; then the stop
  // reason is set.
  std::optional<Attempt> find_caller(const Activation& callee) {
    refused_.clear();
    bool asked_outermost = false;
    if (const auto why = disproved_ ? started_by_hand(callee, context_) : std::nullopt) {
      result_.stop = {StopReason::end_of_stack, *why};
      return std::nullopt;
    }
    for (Strategy* strategy : selection_.all) {
      // Tables know by themselves where stacks begin; the strategies after them do not.
      if (strategy->trust() > Trust::cfi && !std::exchange(asked_outermost, true)) {
        if (const auto why = no_caller_to_expect(callee)) {
          result_.stop = {StopReason::end_of_stack, *why};
          if (!planted_ && hangs_on_pc(callee, *strategy, false)) {
            facts_.learn_end({callee.pc, callee.interrupted}, nullptr, *why);
          }
          return std::nullopt;
        }
      }
      if (strategy->trust() > Trust::cfi && !context_.may_search_on()) {
        break;
      }
      // What nobody called has left no return address where these would look for it.
      if (planted_ && strategy->trust() > Trust::cfi && strategy->trust() != Trust::scan) {
        continue;
      }
      const UnwindRow* row = strategy->find(callee, context_);
      if (row == nullptr) {
        continue;
      }
      Attempt attempt{strategy, row, apply_row(*row, callee, *process_.arch, *process_.memory), {}};
      attempt.judgement = context_.judge.weigh(callee, *row, attempt.proposal, strategy->trust());
      if (planted_ && strategy->trust() == Trust::cfi &&
          expects_a_call(callee, attempt, *process_.arch)) {
        attempt.judgement.refusal = Refusal::no_call_before;
      }
      if (attempt.judgement.refusal == Refusal::end_of_stack) {
        note_cfa(attempt);
        result_.stop = {StopReason::end_of_stack, end_detail(attempt)};
        learn_end(callee, attempt);
        return std::nullopt;
      }
      if (attempt.judgement.refusal == Refusal::none) {
        attempt.judgement.refusal = switches_.check(callee, attempt, context_);
      }
      if (attempt.judgement.refusal == Refusal::none && is_no_return(callee, attempt)) {
        attempt.judgement.refusal = Refusal::no_call_before;
      }
      if (attempt.judgement.refusal == Refusal::none) {
        attempt.doubt = doubt_of(callee, attempt, context_);
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
    if (!called || accepted.doubt != CallDoubt::none || accepted.row->signal_frame ||
        accepted.row->injected || !hangs_on_pc(callee, *accepted.strategy, true)) {
      return;
    }
    const CodePoint point{callee.pc, callee.interrupted};
    if (facts_.at(point) == nullptr) {
      facts_.learn_step(point, *accepted.row, accepted.strategy->trust());
    }
    if (call == CallMatch::unknown && !accepted.judgement.called) {
      facts_.learn_blind_call(accepted.proposal.caller.pc);
    } else {
      facts_.learn_call(point, accepted.proposal.caller.pc, call);
    }
  }

  void learn_end(const Activation& callee, const Attempt& last) {
    const CodePoint point{callee.pc, callee.interrupted};
    if (last.strategy->trust() != Trust::cfi || !hangs_on_pc(callee, *last.strategy, true)) {
      return;
    }
    if (last.proposal.failure == ApplyFailure::outermost) {
      facts_.learn_end(point, last.row, result_.stop.detail);
    } else {
      facts_.learn_step(point, *last.row, Trust::cfi);
    }
  }

  // Whether it comes to `last` again wherever this pc comes back, and, where that is `taken`, to
  // the same rule. A step along the chain of frame pointers asks by itself what its hangs on.
  [[nodiscard]] bool hangs_on_pc(const Activation& callee, Strategy& last, bool taken) const {
    const auto at_pc = [&](Strategy* strategy) { return strategy->hangs_on_pc(callee, context_); };
    const bool chain = last.trust() == Trust::frame_pointer;
    const auto end = std::ranges::find(selection_.all, &last);
    return facts_.usable() && refused_.empty() && std::all_of(selection_.all.begin(), end, at_pc) &&
           (!taken || chain || at_pc(&last));
  }

  // The outermost frame has a CFA too, when its row could be applied.
  void note_cfa(const Attempt& attempt) {
    Frame& callee = result_.frames.back();
    if (attempt.proposal.failure != ApplyFailure::no_cfa && callee.cfa == 0) {
      callee.cfa = attempt.proposal.cfa;
    }
  }

  // Above a function that a stack was started at by hand nothing is a caller, whatever lies there;
  // nor above an entry point. Its own unwind table was asked before.
  std::optional<std::string> no_caller_to_expect(const Activation& callee) {
    const bool signal = std::ranges::any_of(
        refused_, [](const Attempt& attempt) { return attempt.row->signal_frame; });
    if (auto by_hand = planted_ && !signal ? started_by_hand(callee, context_) : std::nullopt) {
      return by_hand;
    }
    return outermost_function(callee, process_, context_.code);
  }

  [[nodiscard]] bool is_no_return(const Activation& callee, const Attempt& attempt) const {
    return !attempt.row->signal_frame && !is_gos_own(attempt) &&
           !replacing_.contains(attempt.proposal.caller.pc) &&
           attempt.strategy->trust() <= Trust::analysis &&
           is_no_return_address(callee, attempt.proposal, attempt.judgement.call, searched_,
                                context_);
  }

  void stop_without_caller(const Activation& callee) {
    const auto sp = callee.registers.get(process_.arch->registers.sp);
    if (sp && process_.memory->run_at(*sp).empty()) {
      result_.stop = {StopReason::unreadable, "the stack at " + hex(*sp) + " cannot be read"};
      return;
    }
    result_.stop = {StopReason::no_caller, no_caller_detail(callee, refused_, context_)};
  }

  void add_frame(const Activation& activation, const Attempt* found_by) {
    Frame frame;
    frame.pc = activation.pc;
    frame.sp = activation.registers.get(process_.arch->registers.sp).value_or(0);
    frame.interrupted = activation.interrupted;
    if (found_by != nullptr) {
      Frame& callee = result_.frames.back();
      callee.cfa = found_by->proposal.cfa;
      callee.signal_trampoline = found_by->judgement.signal_frame;
      frame.trust = trust_of(*found_by);
      frame.evidence = found_by->judgement.evidence;
      if (is_unsure(*found_by)) {
        frame.evidence.add(Evidence::call_elsewhere);
      }
    }
    if (options_.explain || options_.registers) {
      add_details(activation, found_by);
    }
    result_.frames.push_back(frame);
  }

  // Of the frame that is about to be added.
  void add_details(const Activation& activation, const Attempt* found_by) {
    FrameDetails details;
    if (options_.explain) {
      details.explanation = explain(found_by, refused_, context_);
    }
    if (options_.registers) {
      details.registers = std::make_shared<const Registers>(activation.registers);
      if (found_by != nullptr) {
        FrameDetails& callee = result_.details.back();
        callee.saved = saved_words_of(result_.frames.back(), *callee.registers, *found_by);
      }
    }
    result_.details.push_back(std::move(details));
  }

  static bool is_unsure(const Attempt& found_by) {
    return found_by.doubt == CallDoubt::some || found_by.doubt == CallDoubt::grave;
  }

  static Trust trust_of(const Attempt& found_by) {
    if (is_unsure(found_by)) {
      return Trust::scan;
    }
    return found_by.judgement.checked_context ? Trust::context : found_by.strategy->trust();
  }

  std::vector<SavedWord> saved_words_of(const Frame& callee, const Registers& registers,
                                        const Attempt& caller) const {
    const Activation activation{callee.pc, registers, callee.interrupted};
    return saved_words(*caller.row, activation, callee.cfa, *process_.arch, *process_.memory);
  }

  const ProcessImage& process_;
  const WalkOptions& options_;
  StepFacts& facts_;
  const Selection& selection_;
  std::forward_list<UnwindRow> made_rows_;
  WalkContext context_;
  std::vector<Attempt> refused_;  // of the present step
  StackSwitches switches_;
  SearchBudget budget_;
  WalkNotes notes_;
  bool planted_ = false;    // the present frame: see Judgement
  bool disproved_ = false;  // and a call stands before it that went elsewhere
  bool searched_ = false;   // and it rests on a search
  // Addresses that replaced return addresses: what they replaced once they may have replaced again.
  std::set<Address> replacing_;
  Backtrace result_;
};

Walker::Walker(const ProcessImage& process, std::shared_ptr<Symbolizer> symbolizer)
    : process_(process),
      symbolizer_(symbolizer ? std::move(symbolizer) : std::make_shared<Symbolizer>(process)),
      cfi_(process),
      code_(process, cfi_, *symbolizer_),
      analyser_(process, code_),
      judge_(process, code_),
      facts_(*process.arch),
      strategies_(make_strategies(*process.arch)),
      selection_(select({})) {}

Walker::Selection Walker::select(const std::vector<std::string>& without) const {
  Selection selection;
  selection.without = without;
  for (const std::string& name : without) {
    const auto& known = strategy_names();
    if (std::ranges::find(known, name) == known.end()) {
      throw std::invalid_argument("there is no strategy \"" + name + "\"");
    }
  }
  for (const auto& strategy : strategies_) {
    if (std::ranges::find(without, strategy->name()) == without.end()) {
      selection.all.push_back(strategy.get());
      selection.may_search = selection.may_search || strategy->trust() == Trust::scan;
      if (strategy->trust() <= Trust::analysis) {
        selection.exact.push_back(strategy.get());
      }
    }
  }
  return selection;
}

Backtrace Walker::walk(const Thread& thread, const WalkOptions& options) {
  if (options.without != selection_.without) {
    selection_ = select(options.without);
    facts_.forget_steps();
  }
  return Walk(*this, options).run(thread);
}

}  // namespace whocall
