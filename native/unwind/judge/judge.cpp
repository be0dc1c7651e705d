#include "unwind/judge/judge.h"

#include "unwind/code/anonymous_code.h"
#include "unwind/code/blank_code.h"
#include "unwind/code/call_site.h"
#include "unwind/code/loaded_callee.h"
#include "unwind/judge/chain_evidence.h"
#include "unwind/judge/signal_context.h"
#include "unwind/judge/stack_words.h"

namespace whocall {

Judgement Judge::weigh(const Activation& callee, const UnwindRow& row, const AppliedRow& proposal,
                       Trust trust) {
  Judgement result;
  switch (proposal.failure) {
    case ApplyFailure::no_cfa:
      result.refusal = Refusal::no_cfa;
      return result;
    case ApplyFailure::no_return_address:
      result.refusal = Refusal::no_return_address;
      return result;
    case ApplyFailure::outermost:
      result.refusal =
          ends_here(callee, trust) ? Refusal::end_of_stack : Refusal::no_return_address;
      return result;
    case ApplyFailure::none:
      break;
  }
  const Activation& caller = proposal.caller;
  result.refusal = check_stack(callee, row, proposal, trust);
  if (result.refusal == Refusal::stack_backwards && may_switch_stacks(row, trust)) {
    result.steps_down = true;
    result.refusal = Refusal::none;
  }
  if (result.refusal != Refusal::none) {
    return result;
  }
  if (row.signal_frame) {  // any pc can be interrupted: NULL and wild ones are why signals come
    weigh_signal(callee, caller, trust, result);
    return result;
  }
  if (caller.pc == 0 && trust == Trust::cfi) {
    result.refusal = Refusal::end_of_stack;
    return result;
  }
  // Nothing stands before a trampoline that has a page of its own (qemu's has).
  const bool begins_page = process_.is_code(caller.pc) &&
                           (trampoline_at(caller.pc, process_) || begins_code(process_, caller.pc));
  if (!process_.is_code(caller.lookup_pc()) && !begins_page) {
    result.refusal = Refusal::not_code;
    return result;
  }
  if (row.injected) {
    result.evidence.add(Evidence::signal);
    return result;
  }
  result.call = match_call(callee, caller, result.called);
  const bool replaced = result.called && process_.module_at(caller.pc) == nullptr &&
                        tail_calls_.discards_return(*result.called);
  result.call = replaced ? CallMatch::no_call : result.call;
  result.planted = replaced || begins_code(process_, caller.pc) ||
                   (result.call == CallMatch::no_call && was_planted(caller.pc));
  const bool called = result.call != CallMatch::no_call && result.call != CallMatch::unreadable;
  result.trampoline = !called && trampoline_at(caller.pc, process_) != nullptr;
  const bool credible =
      !lies_on_stack(callee, caller) && ((replaced && stands_in_page(callee, caller, trust)) ||
                                         believes(callee, result.planted, trust) ||
                                         credible_unseen(callee, proposal, result.call, trust));
  if (!called && !result.trampoline && !credible) {
    result.refusal = Refusal::no_call_before;
    return result;
  }
  result.planted = result.planted && trust != Trust::frame_pointer;  // the chain goes on
  add_evidence(result, callee, row, proposal, trust);
  return result;
}

// Of a row that says that its caller was interrupted.
void Judge::weigh_signal(const Activation& callee, const Activation& caller, Trust trust,
                         Judgement& result) const {
  const SignalContext context = check_signal_context(callee, caller, process_);
  result.checked_context = context == SignalContext::checked;
  const bool refused =
      context == SignalContext::refuted || (trust == Trust::context && !result.checked_context);
  result.refusal = refused ? Refusal::no_signal_frame : Refusal::none;
  result.signal_frame = result.checked_context || may_be_trampoline(callee.pc, process_);
  if (result.signal_frame) {
    result.evidence.add(Evidence::signal);
  }
}

// What speaks for the caller, and against it.
void Judge::add_evidence(Judgement& result, const Activation& callee, const UnwindRow& row,
                         const AppliedRow& proposal, Trust trust) {
  if (result.call != CallMatch::no_call && result.call != CallMatch::unreadable) {
    result.evidence.add(Evidence::call_before);
  }
  if (goes_to_callee(result.call)) {
    result.evidence.add(Evidence::call_target);
  }
  const RegisterRule* returned = row.rule_for(row.return_address);
  if (trust == Trust::scan && returned != nullptr &&
      returned->kind == RegisterRule::Kind::value_expression) {
    result.evidence.add(Evidence::damaged_return);
  }
  result.evidence.add(Evidence::cfa_up);
  if (frame_pointer_agrees(callee, proposal)) {
    result.evidence.add(Evidence::frame_pointer);
  }
}

// Tables are believed when they say that nobody called a function. The analysis, only about code of
// files: where functions begin in code that no file holds is a guess.
//
// Folklore. Situation: the interpreter of a virtual machine takes return addresses off the stack
// and goes back by jumps. Example: HotSpot's, 500 frames deep.
//
// Folklore. Situation: words before a function are taken for its code, as it looks like a function
// where they begin. Example: GHC's info tables; read as instructions they may hold a pop. Remedy:
// an end is believed of what is known to be entered at its start.
bool Judge::ends_here(const Activation& callee, Trust trust) const {
  if (trust != Trust::analysis) {
    return true;
  }
  const auto function = code_.function_at(callee.lookup_pc());
  return lies_in_file(callee.lookup_pc()) && function && code_.is_called(function->begin);
}

bool Judge::lies_in_file(Address code) const {
  const Module* module = process_.module_at(code);
  return module != nullptr && module->file != nullptr;
}

// Where code was run exactly, its rule is believed about a planted address as well as about one
// behind a call. Not where it is a guess where functions begin. Example: SBCL's image, where each
// start has another CFA.
bool Judge::believes(const Activation& callee, bool planted, Trust trust) const {
  const bool exact =
      trust == Trust::analysis && process_.is_code(callee.pc) && lies_in_file(callee.lookup_pc());
  return trust == Trust::cfi || trust == Trust::context || (exact && planted);
}

// Folklore. Situation: Frida hooks a function that begins with a call, which it moves into its own
// page: the call's frame is code of no file, above it lies the return address that Frida replaced.
// Remedy: where analysis leads to a trampoline in the same page, that is no accident.
bool Judge::stands_in_page(const Activation& callee, const Activation& caller, Trust trust) const {
  return trust == Trust::analysis && stands_beside(caller.pc, callee.pc, process_);
}

// Folklore. Situation: a stack lies in memory that is executable. Example: valgrind's own stacks;
// all pointers to variables on them look like code. Remedy: nothing returns there but behind a
// call.
bool Judge::lies_on_stack(const Activation& callee, const Activation& caller) const {
  const auto sp = callee.registers.get(process_.arch->registers.sp);
  const Mapping* stack = sp ? process_.mapping_at(*sp) : nullptr;
  return stack != nullptr && stack->range.contains(caller.lookup_pc());
}

// Folklore. Situation: the file of a module is missing, and the core has none of its code, so that
// no call can be seen. Example: a core sent by a customer without the program; 64 bytes of its
// stack are return addresses into it. Remedy: exact rules are believed; so is a frame pointer whose
// chain goes on upwards; and, when a search finds it, an address that looks returned to.
bool Judge::credible_unseen(const Activation& callee, const AppliedRow& proposal, CallMatch call,
                            Trust trust) {
  const Address pc = proposal.caller.lookup_pc();
  const Module* module = process_.module_at(pc);
  if (call == CallMatch::no_call) {
    return trust == Trust::frame_pointer && !lies_in_file(pc) && chain_holds(callee, process_);
  }
  const bool seen = lies_in_file(pc) && !process_.memory->run_at(pc).empty() &&
                    !is_blank_code(pc, process_, code_);
  if (call != CallMatch::unreadable || seen) {
    return false;
  }
  if (module == nullptr) {  // code that was made at run time, and that the core does not hold
    return trust == Trust::frame_pointer && chain_holds(callee, process_);
  }
  if (trust == Trust::frame_pointer) {
    const Register base = process_.arch->frame.chain->base;
    const auto fp = callee.registers.get(base);
    const auto next = proposal.caller.registers.get(base);
    return fp && next && *next > *fp && same_stack(fp, *next);
  }
  const Address slot = proposal.cfa - static_cast<Address>(process_.arch->cfa_above_return_slot());
  return trust != Trust::scan ||
         start_frames_.may_return(callee, slot, proposal.caller.pc)
             .value_or(looks_returned_to(proposal.cfa, proposal.caller.pc, process_));
}

// Folklore. Situation: nobody called the outermost function of a coroutine; makecontext wrote its
// address where a return address would be. Example: __start_context in glibc, to whose first byte
// the coroutine's function "returns"; on i386 a label behind makecontext's own ret. pc - 1 belongs
// to whatever stands before it. Remedy: where no call stands before the address, and no flow can
// come from above (a function starts there, or a return stands before it), the address is no return
// address but the next instruction, and is looked up as it is. Not so one byte behind a function's
// start: Go puts runtime.goexit + 1 there, so that it looks like a return address.
bool Judge::was_planted(Address pc) const {
  const auto function = code_.function_at(pc);
  if (function && (function->begin == pc || function->begin + 1 == pc)) {
    return function->begin == pc;
  }
  CodeBytes room{};
  const ByteView before = code_before(process_, pc, kLongestLook, room);
  return process_.arch->code.flow_ends != nullptr && !before.empty() &&
         process_.arch->code.flow_ends(before);
}

// Folklore. Situation: an imported function was not called yet, and its slot still leads back to
// the linkage table. Remedy: a call by way of it leads to the dynamic linker alone.
bool Judge::cannot_lead(Address target, Address callee) {
  const Module* module = process_.module_at(callee);
  return code_.linkage_table_at(target)
             ? module != nullptr && (module->is_executable || module == process_.module_at(target))
             : tail_calls_.cannot_lead(target, callee);
}

CallMatch Judge::match_call(const Activation& callee, const Activation& caller) {
  std::optional<Address> called;
  return match_call(callee, caller, called);
}

CallMatch Judge::match_call(const Activation& callee, const Activation& caller,
                            std::optional<Address>& called_at) {
  constexpr unsigned kPlacesLog = 12;
  constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  known_calls_.resize(std::size_t{1} << kPlacesLog);
  const std::uint64_t hash = (callee.pc * kMixer + caller.pc) * kMixer;
  KnownCall& known = known_calls_[hash >> (64U - kPlacesLog)];
  if (known.callee != callee.pc || known.caller != caller.pc ||
      known.interrupted != callee.interrupted) {
    known = {callee.pc, caller.pc, callee.interrupted};
    known.match = find_call(callee, caller.pc, known.called);
  }
  called_at = known.called;
  return known.match;
}

CallMatch Judge::find_call(const Activation& callee, Address caller,
                           std::optional<Address>& called_at) {
  CodeBytes room{};
  const ByteView before = code_before(process_, caller, process_.arch->code.longest_call, room);
  if (before.empty() || is_blank_code(caller - 1, process_, code_)) {
    return CallMatch::unreadable;
  }
  const auto call = process_.arch->code.call_before(before, caller);
  if (!call) {
    return CallMatch::no_call;
  }
  called_at = final_target(*call);
  if (called_at) {
    return compare_call(*call, *called_at, callee, caller);
  }
  for (const Address loaded : loaded_callees(process_, caller)) {
    const auto target = final_target({.indirect = true, .target = loaded});
    const CallMatch match =
        target ? compare_call(*call, *target, callee, caller) : CallMatch::unknown;
    if (goes_to_callee(match) || match == CallMatch::same_module) {
      called_at = target;
      return match;
    }
  }
  return CallMatch::unknown;
}

CallMatch Judge::compare_call(const CallSite& call, Address target, const Activation& callee,
                              Address caller) {
  if (callee.interrupted && target == callee.pc) {
    return CallMatch::matches;
  }
  const auto function = code_.function_at(callee.lookup_pc());
  if (function && function->begin == target) {
    return CallMatch::matches;
  }
  const auto called = code_.function_at(target);
  if (called && !called->contains(callee.lookup_pc())) {
    if (tail_calls_.lead(target, callee.lookup_pc())) {
      return CallMatch::tail_call;
    }
    const bool in_no_module = process_.module_at(callee.lookup_pc()) == nullptr;
    if (tail_calls_.leads_anywhere(target) ||
        (in_no_module && tail_calls_.reaches_indirect_jump(target))) {
      return CallMatch::unknown;
    }
    // Folklore. Situation: `call next; next: pop %ebx` asks where it is, and leaves its return
    // address below the stack pointer. Remedy: nothing returns to such an address, unless a
    // function begins there, called by what stands right before it and never returns (_start_c of
    // musl).
    const bool asks_where = call.target == caller && called->begin != caller;
    return asks_where ? CallMatch::no_call : CallMatch::elsewhere;
  }
  const Module* module = process_.module_at(target);
  const bool same = module != nullptr && module == process_.module_at(callee.lookup_pc());
  return same && !called ? CallMatch::same_module : CallMatch::unknown;
}

// Follows jump stubs (PLT slots, thunks) from the call's target to the function they lead to.
std::optional<Address> Judge::final_target(const CallSite& call) const {
  constexpr int kLongestChain = 4;
  const Architecture& arch = *process_.arch;
  std::optional<Address> target = call.slot ? process_.code_pointer_at(*call.slot) : call.target;
  std::vector<std::byte> room;
  for (int hop = 0; target && hop < kLongestChain; ++hop) {
    const auto code = process_.memory->bytes_at(*target, kLongestStub, room);
    const auto stub = arch.linkage.stub_at(ByteView(code, arch.abi.endian), *target);
    if (!stub) {
      return target;
    }
    target = stub->slot ? process_.code_pointer_at(*stub->slot) : stub->target;
  }
  return target;
}

bool Judge::frame_pointer_agrees(const Activation& callee, const AppliedRow& proposal) const {
  const auto& chain = process_.arch->frame.chain;
  if (!chain) {
    return false;
  }
  if (chain->kind == FrameChain::Kind::frame_pointer) {  // one word tells, of two registers
    const auto base = callee.registers.get(chain->base);
    return base && *base + static_cast<Address>(chain->cfa_offset) == proposal.cfa &&
           process_.code_pointer_at(*base + static_cast<Address>(chain->return_address_offset)) ==
               proposal.caller.pc;
  }
  const AppliedRow link = apply_row(*chain_row_.get(), callee, *process_.arch, *process_.memory);
  return link.failure == ApplyFailure::none && link.cfa == proposal.cfa &&
         link.caller.pc == proposal.caller.pc;
}

}  // namespace whocall
