#include "arch/riscv/code.h"

#include <algorithm>
#include <array>

#include "arch/riscv/decoder.h"
#include "arch/riscv/fields.h"
#include "base/interrupt.h"

namespace whocall::riscv {
namespace {

using Flow = Instruction::Flow;

// The instruction, or pair of them, of just that size that ends at the end of `before`.
std::optional<Instruction> instruction_before(ByteView before, std::uint64_t size, Address end) {
  if (before.size() < size) {
    return std::nullopt;
  }
  Decoder decoder;
  auto found = decoder.decode(before.from(before.size() - size), end - size);
  return found && found->size == size ? found : std::nullopt;
}

constexpr std::array<std::uint64_t, 3> kSizes = {2 * kWidth, kWidth, kCompressed};

bool never_goes_on(const Instruction& instruction) {
  return instruction.flow == Flow::jump || instruction.flow == Flow::indirect_jump ||
         instruction.flow == Flow::stop;
}

// Of a nop, or of zeros, at the end of `before`; 0: there is none.
std::uint64_t size_of_padding(ByteView before) {
  for (const std::uint64_t size : {std::uint64_t{kWidth}, std::uint64_t{kCompressed}}) {
    const auto found = instruction_before(before, size, before.size());
    if (found && found->padding) {
      return size;
    }
  }
  const bool is_zero = before.size() >= kCompressed &&
                       parcel_at(before, before.size() - kCompressed) == std::uint16_t{0};
  return is_zero ? kCompressed : 0;
}

bool lowers_stack_pointer(const Instruction& instruction) {
  return std::ranges::any_of(instruction.list(), [](const Effect& effect) {
    return effect.kind == Effect::Kind::set && effect.destination == kSp && effect.source == kSp &&
           effect.offset < 0;
  });
}

bool keeps_return_address(const Instruction& instruction) {
  return std::ranges::any_of(instruction.list(), [](const Effect& effect) {
    return effect.kind == Effect::Kind::store && effect.destination == kSp && effect.source == kRa;
  });
}

}  // namespace

// A far call is told from a call by a register by what stands before it.
std::optional<CallSite> call_before(ByteView before, Address return_address) {
  if (return_address % kCompressed != 0) {
    return std::nullopt;
  }
  for (const std::uint64_t size : kSizes) {
    const auto found = instruction_before(before, size, return_address);
    if (found && found->flow == Flow::call) {
      return CallSite{.size = static_cast<std::uint8_t>(size),
                      .indirect = !found->target,
                      .target = found->target};
    }
  }
  return std::nullopt;
}

// A nop or two may stand anywhere; many fill a gap between functions. So do zeros.
bool flow_ends(ByteView before) {
  constexpr unsigned kGap = 12;  // bytes
  for (std::uint64_t gap = 0; gap < kGap;) {
    const std::uint64_t size = size_of_padding(before);
    if (size == 0) {
      return std::ranges::any_of(kSizes, [&](std::uint64_t each) {
        const auto found = instruction_before(before, each, before.size());
        return found && never_goes_on(*found);
      });
    }
    before = before.slice(0, before.size() - size).value_or(ByteView());
    gap += size;
  }
  return true;
}

void append_starts_behind_calls(ByteView code, Address address, std::vector<Address>& starts) {
  constexpr unsigned kLongestPrologue = 16;  // instructions
  Decoder decoder;
  bool called = false;  // just before
  unsigned left = 0;    // of the prologue that may begin at `start`
  Address start = 0;
  std::size_t asked = 0;
  for (std::uint64_t at = address % kCompressed; at + kCompressed <= code.size();) {
    check_interrupt_at(asked++, kManyEntries);
    const auto found = decoder.decode(code.from(at), address + at);
    if (called && found && lowers_stack_pointer(*found)) {
      start = address + at;
      left = kLongestPrologue;
    }
    if (left != 0 && found && keeps_return_address(*found)) {
      starts.push_back(start);
      left = 0;
    }
    const bool straight = found && found->flow == Flow::next;
    left = straight && left != 0 ? left - 1 : 0;
    called = found && (found->flow == Flow::call || (called && found->padding));
    at += found ? found->size : kCompressed;
  }
}

}  // namespace whocall::riscv
