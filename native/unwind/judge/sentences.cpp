#include "unwind/judge/sentences.h"

#include <algorithm>

#include "base/hex.h"

namespace whocall {
namespace {

// A clause that goes on after the strategy's name: "leads to 0x41414141, which is not code".
std::string describe(const Judgement& judgement, const AppliedRow& proposal) {
  const std::string pc = hex(proposal.caller.pc);
  switch (judgement.refusal) {
    case Refusal::no_cfa:
      return "needs a register or memory that is not known";
    case Refusal::no_return_address:
      return proposal.failure == ApplyFailure::outermost
                 ? "finds that the return address was given up"
                 : "finds the return address in unreadable memory, below " + hex(proposal.cfa);
    case Refusal::not_code:
      return "leads to " + pc + ", which is not code";
    case Refusal::no_call_before:
      return "leads to " + pc +
             (judgement.call == CallMatch::unreadable
                  ? ", where no code is at hand that could show a call"
                  : ", which no call instruction precedes");
    case Refusal::stack_unaligned:
      return "leads to the odd stack pointer " + hex(proposal.cfa);
    case Refusal::stack_backwards:
      return "leads back up the stack to " + hex(proposal.cfa);
    case Refusal::stack_elsewhere:
      return "leaves the stack for " + hex(proposal.cfa);
    case Refusal::circle:
      return "leads in a circle, back to " + pc + " with the stack pointer " + hex(proposal.cfa);
    case Refusal::no_signal_frame:
      return "leads to registers that no kernel saved, with the pc " + pc;
    case Refusal::end_of_stack:
    case Refusal::none:
      break;
  }
  return "leads to the end of the stack";
}

// "; analysis leads to 0x41414141, which is not code"
std::string refusals(const std::vector<Attempt>& refused) {
  std::string text;
  for (const Attempt& attempt : refused) {
    text += "; " + std::string(attempt.strategy->name()) + " " +
            describe(attempt.judgement, attempt.proposal);
  }
  return text;
}

// The name of its file: who made code that no file holds.
std::string program(const ProcessImage& process) {
  const auto executable = std::ranges::find_if(process.modules, &Module::is_executable);
  const std::string& path =
      executable != process.modules.end() ? executable->path : process.exe_path;
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() ? "the program" : name;
}

// Whether a table has a rule there, be it asked or not.
bool is_covered(const Activation& callee, const WalkContext& context) {
  return context.cfi.row_at(callee.lookup_pc()).has_value() ||
         std::ranges::any_of(context.exact, [&](Strategy* strategy) {
           return strategy->trust() == Trust::cfi && strategy->find(callee, context) != nullptr;
         });
}

}  // namespace

std::string why_no_table(const Activation& callee, const WalkContext& context) {
  if (!is_covered(callee, context)) {
    return "no unwind table covers the frame below";
  }
  const bool asked = std::ranges::any_of(
      context.exact, [](Strategy* strategy) { return strategy->name() == "cfi"; });
  return asked ? "the unwind table of the frame below leads nowhere"
               : "the unwind table of the frame below was not asked";
}

std::string end_detail(const Attempt& attempt) {
  if (attempt.proposal.failure != ApplyFailure::outermost) {
    return std::string(kZeroReturnAddress);
  }
  return attempt.strategy->trust() == Trust::analysis
             ? "its code has given up its return address"
             : "the unwind tables say that nothing called it";
}

std::string no_caller_detail(const Activation& callee, const std::vector<Attempt>& refused,
                             const WalkContext& context) {
  std::string detail = "no acceptable caller of " + hex(callee.pc);
  if (context.planted) {
    detail += ", whose address replaced a return address";
  }
  const ProcessImage& process = context.process;
  if (process.module_at(callee.pc) == nullptr && process.is_code(callee.pc)) {
    detail += process.memory->run_at(callee.pc).empty()
                  ? ", in code that is not at hand, nor known by the name of its file"
                  : ", in code that " + program(process) +
                        " made at run time, which may keep its callers elsewhere";
  }
  if (!context.may_search_on()) {
    const SearchBudget whole;
    const std::size_t places = context.budget.words == 0 ? whole.words : whole.candidates;
    detail += context.analyser.followed() >= context.budget.code
                  ? ", after " + std::to_string(whole.code) + " bytes of code were analysed"
                  : ", after " + std::to_string(places) + " places were tried";
  }
  return detail + refusals(refused);
}

std::string explain(const Attempt* found_by, const std::vector<Attempt>& refused,
                    const WalkContext& context) {
  if (found_by == nullptr) {
    return "the thread's own registers.";
  }
  const Frame& last = context.frames.back();
  Activation callee;
  callee.pc = last.pc;
  callee.interrupted = last.interrupted;
  std::string text = found_by->strategy->explain(callee, *found_by->row, context) + " leads to it";
  const Judgement& judgement = found_by->judgement;
  const EvidenceSet& evidence = judgement.evidence;
  if (judgement.call == CallMatch::tail_call && judgement.called) {
    text += "; the call before it goes to " + hex(*judgement.called) +
            ", where code jumps on to the function below";
  } else if (evidence.has(Evidence::call_target)) {
    text += "; the call before it goes to the function below";
  } else if (evidence.has(Evidence::call_before)) {
    text += "; a call instruction stands before it";
  }
  text += refusals(refused) + ".";
  const std::string remedy = found_by->strategy->remedy();
  if (!remedy.empty() && !is_covered(callee, context)) {
    text += " " + remedy + ".";
  }
  return text;
}

}  // namespace whocall
