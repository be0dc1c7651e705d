#include "unwind/judge/chain_evidence.h"

#include "unwind/code/call_site.h"
#include "unwind/rows/apply_row.h"
#include "unwind/rows/chain_row.h"

namespace whocall {
namespace {

constexpr int kEnough = 4;         // links
constexpr int kEnoughToAFile = 2;  // links up to a call in the code of a file
constexpr Address kLargestFrame = Address{1} << 20U;

bool behind_call_in_a_file(Address pc, const ProcessImage& process) {
  const Module* module = process.module_at(pc - 1);
  return module != nullptr && module->file != nullptr && call_before(process, pc).has_value();
}

}  // namespace

bool chain_holds(const Activation& callee, const ProcessImage& process) {
  const Architecture& arch = *process.arch;
  const ChainRow row(arch);
  if (row.get() == nullptr) {
    return false;
  }
  const Register number = arch.frame.chain->base;
  Activation link = callee;
  auto base = callee.registers.get(number);
  const Mapping* stack = base ? process.mapping_at(*base) : nullptr;
  for (int links = 1; base && stack != nullptr; ++links) {
    if (*base % arch.registers.size != 0) {
      return false;
    }
    const AppliedRow next = apply_row(*row.get(), link, arch, *process.memory);
    const auto next_base = next.caller.registers.get(number);
    const Address code = next.caller.pc;
    if (next.failure != ApplyFailure::none || !next_base || code == 0 ||
        !process.is_code(code - 1) || stack->range.contains(code)) {
      return false;
    }
    if (links == kEnough || (links >= kEnoughToAFile && behind_call_in_a_file(code, process))) {
      return true;
    }
    const bool goes_up = *next_base > *base && *next_base - *base < kLargestFrame &&
                         stack->range.contains(*next_base);
    link = next.caller;
    base = goes_up ? next_base : std::nullopt;
  }
  return false;
}

}  // namespace whocall
