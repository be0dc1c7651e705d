#include "unwind/judge/signal_context.h"

#include <algorithm>
#include <span>
#include <vector>

namespace whocall {
namespace {

bool can_hold_a_stack(const Mapping& mapping) {
  return mapping.writable || !mapping.permissions_known;
}

// A stack that overflowed leaves the stack pointer in the guard below it, or beyond.
bool on_a_stack(Address sp, const ProcessImage& process) {
  constexpr Address kFarthestBelow = Address{16} << 20U;
  if (process.mappings.empty()) {
    return true;
  }
  const auto above = std::ranges::upper_bound(
      process.mappings, sp, {}, [](const Mapping& mapping) { return mapping.range.begin; });
  if (const Mapping* mapping = process.mapping_at(sp); mapping != nullptr) {
    const bool guard = !mapping->readable && !mapping->writable;
    return can_hold_a_stack(*mapping) ||
           (guard && above != process.mappings.end() && can_hold_a_stack(*above));
  }
  return above != process.mappings.end() && above->range.begin - sp < kFarthestBelow &&
         can_hold_a_stack(*above);
}

std::optional<std::uint64_t> read(Address address, unsigned size, const ProcessImage& process) {
  const Architecture& arch = *process.arch;
  return process.memory->read_unsigned(address & arch.address_mask(), size, arch.abi.endian);
}

// Where the registers lie that the kernel has saved.
std::optional<Address> context_of(const SignalTrampoline& trampoline, Address sp,
                                  const ProcessImage& process) {
  const Address place = sp + static_cast<Address>(trampoline.context_offset);
  return trampoline.context_is_pointer ? read(place, process.arch->abi.pointer_size, process)
                                       : std::optional(place);
}

bool marks_hold(const SignalTrampoline& trampoline, Address sp, const ProcessImage& process) {
  const auto context = context_of(trampoline, sp, process);
  return context && std::ranges::all_of(trampoline.marks, [&](const ContextMark& mark) {
           const auto value = read(*context + mark.offset, mark.size, process);
           return value && (*value & mark.mask) == mark.value;
         });
}

// Whether the pc and the stack pointer of `interrupted` lie where such a trampoline has them.
bool saved_there(const SignalTrampoline& trampoline, Address sp, const Activation& interrupted,
                 const ProcessImage& process) {
  const Architecture& arch = *process.arch;
  const auto context = context_of(trampoline, sp, process);
  const auto agrees = [&](Register number) {
    const auto saved = std::ranges::find(trampoline.registers, number, &SavedRegister::number);
    const auto value = interrupted.registers.get(number);
    return saved != trampoline.registers.end() && value &&
           read(*context + saved->offset, arch.registers.size, process) == value;
  };
  return context && agrees(arch.registers.pc) && agrees(arch.registers.sp);
}

// Folklore. Situation: the table of a C library marks a trampoline as one, whose instructions are
// others than those known here. Example: a sigreturn of i386 with nop for its pop; one may be
// translated, or patched by a tracer. Remedy: the registers must lie where a known trampoline has
// them, in the form in which the kernel writes them.
bool saved_as_by_another(const Activation& trampoline, const Activation& interrupted,
                         const ProcessImage& process) {
  const auto sp = trampoline.registers.get(process.arch->registers.sp);
  return sp && std::ranges::any_of(
                   process.arch->os.signal_trampolines, [&](const SignalTrampoline& each) {
                     return !each.marks.empty() && saved_there(each, *sp, interrupted, process) &&
                            marks_hold(each, *sp, process);
                   });
}

// Folklore. Situation: a handler returns into the vDSO, and the core has left that out. Example:
// qemu-user 8.2 and later, which gives AArch64 one with the trampoline in it, and writes no code
// into cores. Remedy: nothing in a vDSO calls anybody; what returns there returns to the
// trampoline. Where the instruction set has but one, the saved registers show whether it is true.
const SignalTrampoline* unread_trampoline_at(Address pc, const ProcessImage& process) {
  const auto known = process.arch->os.signal_trampolines;
  const Mapping* mapping = process.mapping_at(pc);
  const bool may_be = known.size() == 1 && !known[0].marks.empty() && mapping != nullptr &&
                      mapping->executable && mapping->path == "[vdso]";
  return may_be ? known.data() : nullptr;
}

}  // namespace

const SignalTrampoline* trampoline_at(Address pc, const ProcessImage& process) {
  if (process.memory->run_at(pc).empty()) {
    return unread_trampoline_at(pc, process);
  }
  std::vector<std::byte> room;
  const auto known = process.arch->os.signal_trampolines;
  const auto found = std::ranges::find_if(known, [&](const SignalTrampoline& trampoline) {
    const auto pattern = std::as_bytes(trampoline.code);
    return std::ranges::equal(pattern, process.memory->bytes_at(pc, pattern.size(), room));
  });
  return found == known.end() ? nullptr : &*found;
}

bool may_be_trampoline(Address pc, const ProcessImage& process) {
  constexpr Address kLongest = 16;  // bytes of one
  if (process.arch->os.signal_trampolines.empty() || process.memory->run_at(pc).empty()) {
    return true;
  }
  for (Address back = 0; back <= kLongest; ++back) {
    if (trampoline_at(pc - back, process) != nullptr) {
      return true;
    }
  }
  return false;
}

SignalContext check_signal_context(const Activation& trampoline, const Activation& interrupted,
                                   const ProcessImage& process) {
  const Register sp_number = process.arch->registers.sp;
  const auto to = interrupted.registers.get(sp_number);
  if (!to || !on_a_stack(*to, process)) {
    return SignalContext::refuted;
  }
  const auto from = trampoline.registers.get(sp_number);
  const SignalTrampoline* known = trampoline_at(trampoline.pc, process);
  if (from && known != nullptr && !known->marks.empty() && marks_hold(*known, *from, process)) {
    return SignalContext::checked;
  }
  if (known == nullptr && saved_as_by_another(trampoline, interrupted, process)) {
    return SignalContext::checked;
  }
  return process.is_code(interrupted.pc) ? SignalContext::plausible : SignalContext::refuted;
}

}  // namespace whocall
