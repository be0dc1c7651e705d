#include "arguments/register_trail.h"

#include <algorithm>

#include "unwind/rows/apply_row.h"

namespace whocall {
namespace {

const UnwindRow* row_at(Walker& walker, const Activation& callee, Trust trust) {
  if (trust == Trust::cfi || trust == Trust::context) {
    const auto found = walker.cfi().row_at(callee.lookup_pc());
    return found ? found->row : nullptr;
  }
  return trust == Trust::analysis ? walker.analyser().row_at(callee.lookup_pc()) : nullptr;
}

Registers only_places(const Architecture& arch, const Frame& frame) {
  Registers registers;
  registers.set(arch.registers.pc, frame.pc);
  registers.set(arch.registers.sp, frame.sp);
  return registers;
}

}  // namespace

std::vector<Registers> registers_of_frames(Walker& walker, const Thread& thread,
                                           const std::vector<Frame>& frames, std::size_t count) {
  const Architecture& arch = *walker.process().arch;
  std::vector<Registers> all;
  Activation here{frames.empty() ? 0 : frames.front().pc, thread.registers, true};
  count = std::min(count, frames.size());
  while (all.size() < count) {
    all.push_back(here.registers);
    if (all.size() == frames.size()) {
      break;
    }
    const Frame& callee = frames[all.size() - 1];
    const Frame& caller = frames[all.size()];
    const UnwindRow* row = row_at(walker, here, caller.trust);
    AppliedRow applied;
    applied.failure = ApplyFailure::no_cfa;
    if (row != nullptr) {
      applied = apply_row(*row, here, arch, *walker.process().memory);
    }
    const bool same = applied.failure == ApplyFailure::none && applied.cfa == callee.cfa &&
                      applied.caller.pc == caller.pc;
    here = same ? applied.caller : Activation{caller.pc, only_places(arch, caller), false};
    here.interrupted = caller.interrupted;
  }
  return all;
}

}  // namespace whocall
