#include "runtime/machine_rules.h"

#include "runtime/names.h"
#if defined(__mips__)
#include "rules/mips_prologue.h"
#endif

namespace whocall::runtime {

#if defined(__arm__)

bool step_by_index(const Module& module, std::uintptr_t lookup, CheckedReader& reader, Point& at) {
  rules::ArmInstructions instructions;
  const rules::ArmIndex index{.mapped = module.tables.mapped,
                              .begin = module.tables.header,
                              .entries = module.tables.entries};
  const auto read = [&reader](std::uintptr_t address, std::uintptr_t& value) {
    return reader.read(address, value);
  };
  if (index.entries == 0 || !rules::find_instructions(index, lookup, instructions)) {
    return false;
  }
  Point caller = at;
  if (!rules::unwind(instructions, read, caller.registers) ||
      caller.registers.values.data()[rules::kArmSp] < at.sp) {
    return false;
  }
  take_registers(caller);
  // Two frames with one stack pointer and one place would be the same one.
  if (caller.sp == at.sp && caller.pc == at.pc) {
    return false;
  }
  // A function that has called another keeps its return address on the stack.
  caller.registers.known &= ~(1U << rules::kArmLink);
  caller.link_known = false;
  at = caller;
  return true;
}

void forget_others(Point& at) {
  at.registers.known = 1U << rules::kArmSp | (at.fp_known ? 1U << 11U : 0U);
  at.registers.values.data()[rules::kArmSp] = static_cast<std::uint32_t>(at.sp);
  at.registers.values.data()[11] = static_cast<std::uint32_t>(at.fp);
}

#else

bool step_by_index(const Module& /*module*/, std::uintptr_t /*lookup*/, CheckedReader& /*reader*/,
                   Point& /*at*/) {
  return false;
}

void forget_others(Point& /*at*/) {}

#endif

#if defined(__mips__)

rules::FrameRule rule_by_prologue(const Module& module, std::uintptr_t lookup) {
  constexpr std::uintptr_t kFarthest = 0x4000;  // bytes
  const std::uintptr_t place = lookup & ~std::uintptr_t{3};
  const auto* const end = reinterpret_cast<const std::uint32_t*>(place);
  const FunctionName function = find_name(module, lookup - module.bias);
  if (function.name != nullptr) {
    const std::uintptr_t begin = function.begin + module.bias;
    return rules::mips_rule(reinterpret_cast<const std::uint32_t*>(begin), end);
  }
  const std::uintptr_t lowest = place - module.begin < kFarthest ? module.begin : place - kFarthest;
  const std::uint32_t* const frame = rules::mips_frame_before(
      reinterpret_cast<const std::uint32_t*>((lowest + 3) & ~std::uintptr_t{3}), end);
  return frame == nullptr ? rules::FrameRule{} : rules::mips_rule(frame, end);
}

#else

rules::FrameRule rule_by_prologue(const Module& /*module*/, std::uintptr_t /*lookup*/) {
  return {};
}

#endif

}  // namespace whocall::runtime
