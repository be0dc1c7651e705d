#include "unwind/walk/synthetic_return.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "base/hex.h"
#include "unwind/code/call_site.h"

namespace whocall {
namespace {

constexpr Address kMostAbove = 4096;  // words

// Whether no return address lies between `sp` and the end of its mapping, which is near.
bool is_last(Address sp, const WalkContext& context) {
  const ProcessImage& process = context.process;
  const unsigned word = process.arch->registers.size;
  const Mapping* stack = process.mapping_at(sp - word);
  if (stack == nullptr || stack->range.end - sp > kMostAbove * word || sp % word != 0) {
    return false;
  }
  for (Address at = sp; at < stack->range.end; at += word) {
    const auto value = process.memory->read_unsigned(at, word, process.arch->abi.endian);
    const Address code = value ? process.arch->code_address(*value) : 0;
    if (code != 0 && process.is_code(code - 1) && call_before(process, code)) {
      return false;
    }
  }
  return true;
}

// Whether the flow from `pc` on comes to no return and to no jump that a register tells.
//
// Folklore. Situation: the code that ends a thread stands in the midst of a function. Example:
// `finish` of Boost.Context, a label behind the return of make_fcontext: xor %edi,%edi; call _exit.
bool ends_for_good(Address pc, const WalkContext& context) {
  constexpr std::size_t kMost = 64;  // instructions
  using Flow = Instruction::Flow;
  InstructionDecoder* const decoder = context.analyser.decoder();
  std::vector<Address> pending = {pc};
  std::set<Address> seen;
  std::vector<std::byte> room;
  while (!pending.empty() && decoder != nullptr) {
    const Address at = pending.back();
    pending.pop_back();
    if (!seen.insert(at).second) {
      continue;
    }
    const ByteView code(context.process.memory->bytes_at(at, kLongestLook, room),
                        context.process.arch->abi.endian);
    const auto instruction = decoder->decode(code, at);
    if (!instruction || seen.size() > kMost || instruction->returns ||
        instruction->flow == Flow::indirect_jump) {
      return false;
    }
    const bool call = instruction->flow == Flow::call;
    if (instruction->target && !call) {
      pending.push_back(*instruction->target);
    }
    const bool ends =
        instruction->flow == Flow::stop || instruction->flow == Flow::jump ||
        (call && instruction->target && context.analyser.never_returns(*instruction->target));
    if (!ends) {
      pending.push_back(at + instruction->size);
    }
  }
  return decoder != nullptr;
}

// Folklore. Situation: the trampoline's page may be run, but not read. Example: the kernel's page
// for uretprobes, of which a core holds zeros or nothing. Remedy: such code proves no end.
bool can_be_seen(Address pc, const ProcessImage& process) {
  std::array<std::byte, 16> code{};
  const std::size_t size = process.memory->read(pc, code);
  return std::any_of(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(size),
                     [](std::byte byte) { return byte != std::byte{0}; });
}

}  // namespace

// Folklore. Situation: two kinds of tools put the address of a function where a return address
// should be. Who starts a stack by hand: makecontext, libcoro. And who wants to see a function
// return: uftrace, Frida's interceptor, the kernel's uretprobes replace its return address by that
// of a trampoline, which goes back to the true one, kept elsewhere. Above the first there is
// nothing, above the second there are all callers. Remedy: the trampoline returns; what stands at
// the beginning of a stack ends the thread or the program, or has no return address above it.
std::optional<std::string> started_by_hand(const Activation& planted, const WalkContext& context) {
  const auto sp = planted.registers.get(context.process.arch->registers.sp);
  if (!can_be_seen(planted.pc, context.process)) {
    return std::nullopt;
  }
  if (!context.analyser.never_returns(planted.pc) && !ends_for_good(planted.pc, context) &&
      !(sp && is_last(*sp, context))) {
    return std::nullopt;
  }
  return "no call leads to " + hex(planted.pc) + ": the stack was started there by hand";
}

// Folklore. Situation: Go keeps an address in systemstack_switch as that of a goroutine that waits
// for its thread's stack, which stands there as if it had just been called. Remedy: Go's own table
// is believed about what Go puts there.
bool is_gos_own(const Attempt& attempt) { return attempt.strategy->name() == "pclntab"; }

bool expects_a_call(const Activation& planted, const Attempt& attempt, const Architecture& arch) {
  const auto sp = planted.registers.get(arch.registers.sp);
  return !is_gos_own(attempt) && attempt.proposal.failure == ApplyFailure::none &&
         !attempt.row->signal_frame && sp &&
         attempt.proposal.cfa == *sp + static_cast<Address>(arch.frame.cfa_on_entry) &&
         !goes_to_callee(attempt.judgement.call);
}

}  // namespace whocall
