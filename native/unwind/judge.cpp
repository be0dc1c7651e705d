#include "unwind/judge.h"

#include <algorithm>
#include <array>

#include "base/hex.h"

namespace whocall {

std::string describe(Refusal refusal, const AppliedRow& proposal) {
  const std::string pc = hex(proposal.caller.pc);
  switch (refusal) {
    case Refusal::no_cfa:
      return "needs a register or memory that is not known";
    case Refusal::no_return_address:
      return "finds the return address in unreadable memory, below " + hex(proposal.cfa);
    case Refusal::not_code:
      return "leads to " + pc + ", which is not code";
    case Refusal::no_call_before:
      return "leads to " + pc + ", which no call instruction precedes";
    case Refusal::stack_unaligned:
      return "leads to the odd stack pointer " + hex(proposal.cfa);
    case Refusal::stack_backwards:
      return "leads back up the stack to " + hex(proposal.cfa);
    case Refusal::stack_elsewhere:
      return "leaves the stack for " + hex(proposal.cfa);
    case Refusal::end_of_stack:
    case Refusal::none:
      break;
  }
  return "leads to the end of the stack";
}

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
      result.refusal = Refusal::end_of_stack;
      return result;
    case ApplyFailure::none:
      break;
  }
  const Activation& caller = proposal.caller;
  result.refusal = check_stack(callee, row, proposal, trust);
  if (result.refusal != Refusal::none) {
    return result;
  }
  if (row.signal_frame) {  // any pc can be interrupted: NULL and wild ones are why signals come
    result.evidence.add(Evidence::signal);
    return result;
  }
  if (caller.pc == 0 && trust == Trust::cfi) {
    result.refusal = Refusal::end_of_stack;
    return result;
  }
  if (!process_.is_code(caller.lookup_pc())) {
    result.refusal = Refusal::not_code;
    return result;
  }
  const CallMatch match = match_call(callee, caller);
  const bool believed = trust == Trust::cfi || trust == Trust::context;
  if (match == CallMatch::no_call && !believed && !at_trampoline(caller.pc)) {
    result.refusal = Refusal::no_call_before;
    return result;
  }
  if (match != CallMatch::no_call) {
    result.evidence.add(Evidence::call_before);
  }
  if (match == CallMatch::matches || match == CallMatch::tail_call) {
    result.evidence.add(Evidence::call_target);
  }
  result.evidence.add(Evidence::cfa_up);
  if (frame_pointer_agrees(callee, proposal)) {
    result.evidence.add(Evidence::frame_pointer);
  }
  return result;
}

// The stack grows down, so a caller's stack pointer lies above its callee's. Two cases are legal
// exceptions: a signal handler on its alternate stack returns to another region, and code that
// switches stacks says so in its unwind tables.
Refusal Judge::check_stack(const Activation& callee, const UnwindRow& row,
                           const AppliedRow& proposal, Trust trust) const {
  const Architecture& arch = *process_.arch;
  const auto from = callee.registers.get(arch.sp);
  const Address to = proposal.caller.registers.get(arch.sp).value_or(proposal.cfa);
  if (!row.signal_frame && to % arch.pointer_size != 0) {
    return Refusal::stack_unaligned;
  }
  const Mapping* from_mapping = from ? process_.mapping_at(*from) : nullptr;
  const Mapping* to_mapping = process_.mapping_at(to);
  const bool same_region = from_mapping == to_mapping;
  if (!same_region && !row.signal_frame && trust != Trust::cfi) {
    return Refusal::stack_elsewhere;
  }
  // A callee that keeps its return address in a register and has no frame leaves sp where it was.
  const bool may_stand = callee.interrupted && arch.link_register.has_value();
  const bool moves_up = !from || to > *from || (may_stand && to == *from);
  if (same_region && !moves_up) {
    return Refusal::stack_backwards;
  }
  return Refusal::none;
}

CallMatch Judge::match_call(const Activation& callee, const Activation& caller) {
  const auto call = call_before(caller.pc);
  if (!call) {
    return CallMatch::no_call;
  }
  const auto target = final_target(*call);
  if (!target) {
    return CallMatch::unknown;
  }
  if (*target == callee.pc) {
    return CallMatch::matches;
  }
  const auto function = code_.function_at(callee.lookup_pc());
  if (function && function->begin == *target) {
    return CallMatch::matches;
  }
  const auto called = code_.function_at(*target);
  if (!called || called->contains(callee.lookup_pc())) {
    return CallMatch::unknown;
  }
  return tail_calls_.lead(*target, callee.lookup_pc()) ? CallMatch::tail_call
                                                       : CallMatch::elsewhere;
}

std::optional<CallSite> Judge::call_before(Address return_address) const {
  const Architecture& arch = *process_.arch;
  std::array<std::byte, 16> code{};
  const auto wanted = std::span(code).first(arch.longest_call);
  const Address start = return_address - wanted.size();
  const auto run = process_.memory->run_at(start);
  if (run.size() >= wanted.size()) {
    return arch.call_before(ByteView(run.first(wanted.size()), arch.endian), return_address);
  }
  // At the start of a mapping fewer bytes stand before the address: take what there is.
  for (std::size_t size = wanted.size(); size > 1; --size) {
    if (process_.memory->read(return_address - size, wanted.first(size)) == size) {
      return arch.call_before(ByteView(wanted.first(size), arch.endian), return_address);
    }
  }
  return std::nullopt;
}

std::optional<Address> Judge::word_at(Address address) const {
  const Architecture& arch = *process_.arch;
  return process_.memory->read_unsigned(address, arch.pointer_size, arch.endian);
}

// Follows jump stubs (PLT slots, thunks) from the call's target to the function they lead to.
std::optional<Address> Judge::final_target(const CallSite& call) const {
  constexpr int kLongestChain = 4;
  const Architecture& arch = *process_.arch;
  std::optional<Address> target = call.slot ? word_at(*call.slot) : call.target;
  for (int hop = 0; target && hop < kLongestChain; ++hop) {
    const auto code = process_.memory->run_at(*target);
    const auto stub = arch.jump_stub(ByteView(code, arch.endian), *target);
    if (!stub) {
      return target;
    }
    target = stub->slot ? word_at(*stub->slot) : stub->target;
  }
  return target;
}

bool Judge::at_trampoline(Address pc) const {
  const auto code = process_.memory->run_at(pc);
  return std::ranges::any_of(process_.arch->signal_trampolines, [&](const auto& trampoline) {
    return code.size() >= trampoline.code.size() &&
           std::ranges::equal(trampoline.code, code.first(trampoline.code.size()), {}, {},
                              [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  });
}

bool Judge::frame_pointer_agrees(const Activation& callee, const AppliedRow& proposal) const {
  const FramePointerLayout& layout = process_.arch->frame_pointer;
  const auto fp = callee.registers.get(process_.arch->fp);
  return fp && *fp + static_cast<Address>(layout.cfa_offset) == proposal.cfa &&
         word_at(*fp + static_cast<Address>(layout.return_address_offset)) == proposal.caller.pc;
}

}  // namespace whocall
