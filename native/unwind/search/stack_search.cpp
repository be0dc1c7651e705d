// Folklore. Situation: code without unwind tables and without a frame pointer stands on the stack.
// Example: hand-written assembly, a C library built without tables. Half of the words on a real
// stack that follow a call instruction are leftovers of calls that have long returned, so the
// first word that looks like a return address is often a lie. Remedy: a candidate is tested by
// what follows from it. Best is one whose call goes to the very function that we came from; next
// one from which exact rules (tables, analysis) lead on over several acceptable callers; a call
// that demonstrably goes to another function speaks against it. The nearest of the best wins.
#include "unwind/search/stack_search.h"
#include "unwind/judge/judge.h"

#include <algorithm>

#include "unwind/code/anonymous_code.h"
#include "unwind/judge/stack_words.h"
#include "unwind/rows/chain_row.h"
#include "unwind/search/candidate_score.h"
#include "unwind/search/exact_steps.h"
#include "unwind/search/hidden_frame.h"
#include "unwind/search/return_slot.h"

namespace whocall {
namespace {

constexpr std::size_t kSearchLimit = 65536;  // words looked at for a first candidate
// The same where the callee's code is in no module. Folklore. Situation: such code may have a stack
// of its own making in the midst of other data. Example: a process of Erlang's machine, with copies
// of older stacks beyond it. Remedy: its frames are small; farther away is somebody else's.
constexpr std::size_t kAnonymousLimit = 1024;
// The same above an address that nobody called: only the frame whose return address was replaced
// lies between, unless the stack ends here and another one lies beyond.
constexpr std::size_t kReplacedLimit = 1024;
constexpr std::size_t kDoubtLimit = 8192;  // words looked at while it is a doubtful one
constexpr std::size_t kBetterLimit = 256;  // words looked at for a better one after that

// What exact rules make of a candidate.
struct Lookahead {
  int points = 0;
  bool complete = false;  // over all steps, or to the end of the stack
  bool survived = false;  // several steps, most of them matching, to a word that is no code
};

class Search {
 public:
  Search(const Activation& callee, const WalkContext& context)
      : callee_(callee),
        context_(context),
        arch_(*context.process.arch),
        distance_before_(earlier_distance()) {}

  std::optional<StackCandidate> run(std::optional<Address> end) {
    const auto sp = callee_.registers.get(arch_.registers.sp);
    if (!sp) {
      return std::nullopt;
    }
    const bool damaged = context_.planted || has_exact_rule();
    own_end_ = context_.planted ? sp : damaged ? end_of_own_frame(callee_, context_) : std::nullopt;
    const Address start = first_word_above(*sp, context_.process);
    // Beyond the mapping lies another stack; within it words may be blank, as in private cores.
    const Mapping* stack = context_.process.mapping_at(start);
    if (stack != nullptr) {
      end = std::min(end.value_or(stack->range.end), stack->range.end);
    }
    std::optional<StackCandidate> best;
    std::vector<StackCandidate> passed;
    std::size_t limit = context_.planted      ? kReplacedLimit
                        : in_anonymous_code() ? kAnonymousLimit
                                              : kSearchLimit;
    SearchBudget& budget = context_.budget;
    for (std::size_t i = 0; i < limit && context_.may_search_on(); ++i, --budget.words) {
      const Address at = start + i * arch_.registers.size;
      const auto word =
          context_.process.memory->read_unsigned(at, arch_.registers.size, arch_.abi.endian);
      if ((!word && stack == nullptr) || (end && at >= *end)) {
        break;
      }
      if (!word) {
        continue;
      }
      const Address target = arch_.code_address(*word);
      if (target == 0 || !context_.process.is_code(target - 1)) {
        continue;
      }
      --budget.candidates;
      auto candidate = weigh(static_cast<std::int64_t>(at - *sp), damaged);
      if (candidate && candidate->unseen) {
        return best && best->sure ? best : candidate;
      }
      if (!candidate) {
        continue;
      }
      passed.push_back(*candidate);
      if (!best || candidate->score > best->score) {
        limit = std::min(limit, i + (candidate->contradicted ? kDoubtLimit : kBetterLimit));
        best = std::move(candidate);
        if (best->score >= kBest) {
          break;
        }
      }
    }
    return best ? nearest_that_leads_to(nearest_survivor(*best, passed), passed) : best;
  }

 private:
  // Folklore. Situation: exact rules lead from a near candidate to a far one that scored higher,
  // because its own chain goes one step farther or has more direct calls. Example: Guile's compiled
  // code called through pointers, three frames of libguile above it. Remedy: what leads to the
  // chosen frame by exact rules stands between it and us.
  //
  // Folklore. Situation: the same, by what the dynamic linker left when it looked up the function
  // that we are in. Example: a library whose file is missing, on MIPS, whose callers load what
  // they call: nothing else speaks against the linker's frames. Remedy: who calls into a module of
  // which nothing is known has called nobody else.
  [[nodiscard]] StackCandidate nearest_that_leads_to(
      const StackCandidate& best, const std::vector<StackCandidate>& passed) const {
    if (best.into_module) {
      return best;
    }
    const auto goal = apply_row(best.row, callee_, arch_, *context_.process.memory).caller;
    const auto nearest = std::ranges::find_if(passed, [&](const StackCandidate& candidate) {
      return candidate.row.cfa.offset < best.row.cfa.offset && !candidate.contradicted &&
             leads_to(candidate, goal);
    });
    return nearest == passed.end() ? best : *nearest;
  }

  // Folklore. Situation: two return addresses were overwritten. From what is whole between them
  // exact rules lead no farther than to the second; from the outermost part they lead to the end of
  // the stack. Example: an overflow in a comparison that qsort called, and one in a function far
  // above it. Remedy: several exact steps are no accident, and what they lead through lies nearer.
  [[nodiscard]] static StackCandidate nearest_survivor(const StackCandidate& best,
                                                       const std::vector<StackCandidate>& passed) {
    const auto nearest = std::ranges::find_if(passed, [&](const StackCandidate& candidate) {
      return candidate.survived && candidate.row.cfa.offset < best.row.cfa.offset;
    });
    return nearest == passed.end() ? best : *nearest;
  }

  [[nodiscard]] bool leads_to(const StackCandidate& candidate, const Activation& goal) const {
    constexpr int kFarthest = 64;  // steps
    const auto goal_sp = goal.registers.get(arch_.registers.sp);
    Activation at = apply_row(candidate.row, callee_, arch_, *context_.process.memory).caller;
    for (int i = 0; i < kFarthest && at.registers.get(arch_.registers.sp) < goal_sp; ++i) {
      ExactStep step = exact_step(at, context_);
      if (step.judgement.refusal != Refusal::none && in_function_of_callee(at)) {
        step = step_by(candidate.row, at, Trust::scan, context_);
      }
      if (step.judgement.refusal != Refusal::none || is_doubtful(step.judgement)) {
        return false;
      }
      at = step.caller;
    }
    return at.pc == goal.pc && at.registers.get(arch_.registers.sp) == goal_sp;
  }

  // Folklore. Situation: the same, but on the way from the near one to the far one the blind
  // function stands once more. Example: a script run by LuaJIT: the interpreter, lua_pcall, two
  // functions of the program, the interpreter again, lua_cpcall, main. Remedy: its frame is as
  // large there as the near one says that it is here.
  [[nodiscard]] bool in_function_of_callee(const Activation& at) const {
    const auto here = context_.code.function_at(callee_.lookup_pc());
    return here && here->contains(at.lookup_pc());
  }

  // Folklore. Situation: a blind function stands on the stack again and again, and the search
  // crossed it before. Example: the interpreter of LuaJIT, written in assembler, below each pcall
  // of a script; where the last of them is reached, far words lead on to the end of the stack.
  // Remedy: at one pc the frame is as large as it was the last time.
  [[nodiscard]] std::optional<std::int64_t> earlier_distance() const {
    const std::vector<Frame>& frames = context_.frames;
    WalkNotes& notes = context_.notes;
    for (std::size_t& i = notes.scanned; i < frames.size(); ++i) {
      if (frames[i].trust == Trust::scan && i > 0) {
        const Frame& callee = frames[i - 1];
        notes.scanned_distances[callee.pc] = static_cast<std::int64_t>(callee.cfa - callee.sp);
      }
    }
    const auto found = notes.scanned_distances.find(callee_.pc);
    return found == notes.scanned_distances.end() ? std::nullopt : std::optional(found->second);
  }

  // The caller whose return address lies `distance` bytes above sp.
  std::optional<StackCandidate> weigh(std::int64_t distance, bool damaged) const {
    const Memory& memory = *context_.process.memory;
    StackCandidate plain{row_of_return_slot(arch_, distance, arch_.cfa_above_return_slot())};
    auto proposal = apply_row(plain.row, callee_, arch_, memory);
    const auto verdict = context_.judge.weigh(callee_, plain.row, proposal, Trust::scan);
    if (verdict.refusal != Refusal::none) {
      return std::nullopt;
    }
    if (called_a_leaf(verdict) || repeats_last_call(proposal.caller.pc, verdict)) {
      return std::nullopt;
    }
    if (const auto saved_at = cfa_above_slot(callee_, distance, verdict, context_)) {
      plain.row = row_of_return_slot(arch_, distance, *saved_at);
      proposal = apply_row(plain.row, callee_, arch_, memory);
    }
    plain.unseen = verdict.call == CallMatch::unreadable;
    if (plain.unseen &&
        ((distance != 0 && !is_return_slot(proposal.cfa)) ||
         (proposal.caller.pc != callee_.pc &&
          is_copied_pointer(proposal.cfa - static_cast<Address>(arch_.cfa_above_return_slot()),
                            proposal.caller.pc, context_.process)))) {
      return std::nullopt;
    }
    plain.score =
        verdict.trampoline ? kNotElsewhere + kTrampoline : score_of_call(verdict.call, damaged);
    if (verdict.trampoline && !exact_step(proposal.caller, context_).judgement.checked_context) {
      return std::nullopt;
    }
    plain.score += plain.row.cfa.offset == distance_before_ ? kSameDistance : 0;
    plain.into_module = verdict.call == CallMatch::same_module;
    plain.contradicted = verdict.call == CallMatch::elsewhere && !damaged;
    const bool beyond_own = own_end_ && proposal.cfa > *own_end_;
    if (beyond_own && verdict.called &&
        has_frame_of(*verdict.called, proposal.cfa - *own_end_, callee_, context_)) {
      plain.score += kFits;
    }
    const Lookahead ahead = look_ahead(proposal.caller);
    // Folklore: a callee that pushed the frame pointer first left it just below its return address.
    StackCandidate restored = plain;
    restored.row = row_of_linked_slot(arch_, callee_, memory, distance);
    const auto next = apply_row(restored.row, callee_, arch_, memory);
    const auto beyond = next.failure == ApplyFailure::none ? look_ahead(next.caller) : Lookahead();
    const bool restores = beyond.points > ahead.points;
    const Lookahead& best = restores ? beyond : ahead;
    StackCandidate& better = restores ? restored : plain;
    better.score += best.points;
    better.survived = best.survived && beyond_own;
    better.sure = best.complete && (damaged || verdict.call != CallMatch::elsewhere);
    return better;
  }

  // Folklore. Situation: the code of the callers is not at hand, and the stack also holds pointers
  // to functions and leftovers. Remedy: the conventions of calls keep the stack aligned (to 16
  // bytes on x86) at every call, so of two words one cannot be a return address. Only functions
  // that call nothing outside their own file break the rule.
  [[nodiscard]] bool is_return_slot(Address cfa) const {
    return cfa % arch_.abi.call_alignment == 0;
  }

  [[nodiscard]] bool in_anonymous_code() const {
    return context_.process.module_at(callee_.pc) == nullptr &&
           context_.process.is_code(callee_.pc);
  }

  // Folklore. Situation: where functions begin in code of no module is a guess, and so are their
  // rules. Example: HotSpot's wrapper of a native method, its frame half dropped by a guessed
  // function; below the link of rbp lies what javaTimeNanos left. Remedy: that such a rule leads
  // nowhere says nothing about the stack.
  [[nodiscard]] bool has_exact_rule() const {
    return !in_anonymous_code() && std::ranges::any_of(context_.exact, [&](Strategy* strategy) {
      return strategy->find(callee_, context_) != nullptr;
    });
  }

  // Folklore. Situation: a word follows a call, but what was called calls nothing, so no frame can
  // lie below it. Example: what `call __x86.get_pc_thunk.bx` at the beginning of every i386
  // function leaves on the stack. Remedy: unless we came from that very function, the word is a
  // leftover.
  [[nodiscard]] bool called_a_leaf(const Judgement& verdict) const {
    return verdict.call == CallMatch::elsewhere && verdict.called &&
           context_.analyser.is_leaf(*verdict.called);
  }

  // Folklore. Situation: a function ends in a call that never returns, and the stack holds the
  // address of the function behind it. Example: `call abort`, then a comparison whose address qsort
  // has saved. Remedy: such a call is made once; who called the frame below made another.
  [[nodiscard]] bool repeats_last_call(Address pc, const Judgement& verdict) const {
    return pc == callee_.pc && verdict.call == CallMatch::elsewhere && verdict.called &&
           context_.analyser.never_returns(*verdict.called);
  }

  // Follows exact rules from `caller`, each step to an acceptable caller whose call may have gone
  // there; the end of the stack counts for all that are left.
  //
  // Folklore. Situation: what an earlier call left on the stack leads by an exact rule to a live
  // frame, as that has called both from the same depth. Example: malloc's inner functions under the
  // function that calls `wide` next. Remedy: the live frame's call goes to `wide`, not to malloc.
  [[nodiscard]] Lookahead look_ahead(Activation caller) const {
    constexpr int kSeveral = 3;  // steps of a survivor, and how many of them match
    constexpr int kMostMatch = 2;
    Lookahead ahead;
    int matching = 0;
    for (int step = 0; step < kLookAhead; ++step) {
      const auto next = exact_step(caller, context_);
      if (next.judgement.refusal == Refusal::end_of_stack) {
        return {ahead.points + (kLookAhead - step) * kStep, true};
      }
      if (next.judgement.refusal != Refusal::none || is_doubtful(next.judgement)) {
        ahead.survived = next.judgement.refusal == Refusal::not_code && step >= kSeveral &&
                         matching >= kMostMatch;
        return ahead;
      }
      // Who replaces one return address by that of its trampoline replaces more of them.
      if (context_.planted && next.judgement.planted &&
          stands_beside(next.caller.pc, callee_.pc, context_.process)) {
        return {ahead.points, matching > 0, matching > 0};
      }
      if (next.judgement.call == CallMatch::unreadable) {  // farther than this nobody can see
        const bool may_be = may_be_unseen(caller, next, context_);
        return {ahead.points + (may_be ? (kLookAhead - step) * kStep : 0), may_be};
      }
      const bool matches = next.judgement.evidence.has(Evidence::call_target);
      ahead.points += matches ? kMatchingStep : kStep;
      matching += matches ? 1 : 0;
      caller = next.caller;
    }
    ahead.complete = true;
    return ahead;
  }

  const Activation& callee_;
  const WalkContext& context_;
  const Architecture& arch_;
  std::optional<std::int64_t> distance_before_;  // bytes
  std::optional<Address> own_end_;               // of the frame of `callee`, where it is damaged
};

}  // namespace

std::optional<StackCandidate> search_stack(const Activation& callee, std::optional<Address> end,
                                           const WalkContext& context) {
  auto best = Search(callee, context).run(end);
  return best && context.planted && (!best->sure || best->unseen) ? std::nullopt : best;
}

}  // namespace whocall
