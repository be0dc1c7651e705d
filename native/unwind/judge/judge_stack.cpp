// The judge's look at stacks: whether a caller's frame may lie where a rule has it.
#include "unwind/judge/judge.h"

namespace whocall {

// The stack grows down, so a caller's stack pointer lies above its callee's. There are legal
// exceptions: a signal handler on its alternate stack returns to another region; code that switches
// stacks says so in its unwind tables, or keeps the old stack pointer in a register.
Refusal Judge::check_stack(const Activation& callee, const UnwindRow& row,
                           const AppliedRow& proposal, Trust trust) const {
  const Architecture& arch = *process_.arch;
  const auto from = callee.registers.get(arch.registers.sp);
  const Address to = proposal.caller.registers.get(arch.registers.sp).value_or(proposal.cfa);
  if (row.signal_frame) {
    return Refusal::none;
  }
  if (to % arch.registers.size != 0) {
    return Refusal::stack_unaligned;
  }
  if (row.new_stack && process_.mapping_at(to) != nullptr) {
    return Refusal::none;
  }
  // A callee that keeps its return address in a register and has no frame leaves sp where it was:
  // where calls leave it there, and where a table says so (vfork of glibc on x86).
  const RegisterRule* returned = row.rule_for(row.return_address);
  const bool in_register = returned != nullptr && returned->kind == RegisterRule::Kind::in_register;
  if (callee.interrupted && (arch.registers.link || in_register) && to == from) {
    return Refusal::none;
  }
  const bool moves_up = !from || to > *from;
  if (same_stack(from, to)) {
    return moves_up ? Refusal::none : Refusal::stack_backwards;
  }
  const bool may_switch =
      (trust == Trust::cfi || may_switch_stacks(row, trust)) && process_.mapping_at(to) != nullptr;
  return may_switch ? Refusal::none : Refusal::stack_elsewhere;
}

// Who switches stacks says so in its unwind tables, or keeps the old stack pointer in a register.
bool Judge::may_switch_stacks(const UnwindRow& row, Trust trust) const {
  const bool fixed = row.cfa.kind == CfaRule::Kind::register_offset;
  return (trust == Trust::cfi || (trust == Trust::analysis && fixed)) &&
         !(fixed && row.cfa.base == process_.arch->registers.sp);
}

// A CFA may lie just behind the last byte of its stack, so the word below it is looked at.
//
// Folklore. Situation: a recursion without end runs into the guard page below the stack. Example:
// `sub $1504,%rsp; call` faults with rsp below the lowest page of the stack, in no mapping at all.
// Remedy: what lies a little below a stack belongs to it.
bool Judge::same_stack(std::optional<Address> from, Address to) const {
  constexpr Address kFarthestBelow = Address{16} << 20U;
  if (!from || process_.mappings.empty()) {
    return true;
  }
  const Mapping* to_mapping = process_.mapping_at(to - process_.arch->abi.pointer_size);
  if (to_mapping == nullptr) {
    return false;
  }
  const Mapping* from_mapping = process_.mapping_at(*from);
  const bool guard = from_mapping != nullptr && from_mapping->permissions_known &&
                     !from_mapping->readable && !from_mapping->writable;  // qemu's cores have it
  const bool below = *from < to_mapping->range.begin && (from_mapping == nullptr || guard) &&
                     to_mapping->range.begin - *from < kFarthestBelow;
  return below || from_mapping == to_mapping;
}

}  // namespace whocall
