#include "unwind/walk/frame_chain.h"

#include "unwind/rows/apply_row.h"
#include "unwind/rows/chain_row.h"

namespace whocall {

std::vector<ChainLink> decode_frame_chain(const Architecture& arch, const Registers& registers,
                                          const Memory& memory) {
  std::vector<ChainLink> chain;
  const ChainRow row(arch);
  Activation link;
  link.registers = registers;
  while (row.get() != nullptr) {
    const Register number = arch.frame.chain->base;
    const auto base = link.registers.get(number);
    const AppliedRow next = apply_row(*row.get(), link, arch, memory);
    const auto next_base = next.caller.registers.get(number);
    if (!base || *base == 0 || next.failure != ApplyFailure::none || next.caller.pc == 0 ||
        !next_base) {
      break;
    }
    chain.push_back({next.caller.pc, next.cfa});
    if (*next_base <= *base) {
      break;
    }
    link = next.caller;
  }
  return chain;
}

}  // namespace whocall
