#include "object/pe_epilogues.h"

#include <algorithm>
#include <utility>

#include "base/interrupt.h"

namespace whocall {
namespace {

unsigned byte_at(ByteView code, std::uint64_t at) {
  return code.read<std::uint8_t>(at).value_or(0);
}

// A jump by a distance of `size` bytes behind its first: out of the function, as those within it do
// not leave its frame.
std::uint32_t size_of_jump(ByteView code, std::uint64_t at, unsigned size) {
  const std::uint64_t raw = code.read_unsigned(at + 1, size).value_or(0);
  const auto distance = size == 1 ? std::int64_t{static_cast<std::int8_t>(raw)}
                                  : std::int64_t{static_cast<std::int32_t>(raw)};
  const std::int64_t target = static_cast<std::int64_t>(at + 1 + size) + distance;
  return target < 0 || target >= static_cast<std::int64_t>(code.size()) ? 1 + size : 0;
}

// The size of a return, or of a jump that leaves the function; 0 where there is none.
std::uint32_t size_of_leave(ByteView code, std::uint64_t at) {
  const bool prefixed = byte_at(code, at) == 0x48;
  const std::uint64_t op = prefixed ? at + 1 : at;
  const unsigned second = byte_at(code, op + 1);
  switch (byte_at(code, op)) {
    case 0xc3:
      return prefixed ? 0 : 1;
    case 0xc2:
      return prefixed ? 0 : 3;
    case 0xf3:
      return second == 0xc3 && !prefixed ? 2 : 0;
    case 0xeb:
      return prefixed ? 0 : size_of_jump(code, at, 1);
    case 0xe9:
      return prefixed ? 0 : size_of_jump(code, at, 4);
    case 0xff:  // by memory at a distance from rip (an import), or by a register
      return second == 0x25             ? (prefixed ? 7 : 6)
             : (second & 0xf8U) == 0xe0 ? (prefixed ? 3 : 2)
                                        : 0;
    default:
      return 0;
  }
}

// Whether the instruction that ends at `end` takes off the stack what the prologue reserved.
bool frees_before(ByteView code, std::uint64_t end, std::uint64_t amount) {
  const auto is_add = [&](std::uint64_t at, unsigned form) {
    return byte_at(code, at) == 0x48 && byte_at(code, at + 1) == form &&
           byte_at(code, at + 2) == 0xc4;
  };
  const bool is_half = end >= 4 && byte_at(code, end - 1) == 0x80 &&
                       byte_at(code, end - 2) == 0xec &&
                       byte_at(code, end - 3) == 0x83;  // `sub rsp, -0x80` is shorter than an add
  return (end >= 4 && is_add(end - 4, 0x83) && byte_at(code, end - 1) == amount && amount < 0x80) ||
         (is_half && amount == 0x80) ||
         (end >= 7 && is_add(end - 7, 0x81) && code.read<std::uint32_t>(end - 4) == amount);
}

// The place of the pop of `reg` that ends at `end`; a miss where there is none.
std::optional<std::uint64_t> pop_before(ByteView code, std::uint64_t end, unsigned reg) {
  if (end < 1 || byte_at(code, end - 1) != 0x58 + (reg & 7U)) {
    return std::nullopt;
  }
  const bool prefixed = end >= 2 && byte_at(code, end - 2) == 0x41;
  if (reg >= 8) {
    return prefixed ? std::optional(end - 2) : std::nullopt;
  }
  return end - 1;
}

std::optional<PeEpilogue> epilogue_at(ByteView code, std::uint64_t leave, std::uint32_t size,
                                      const PeFrameWriter& frame) {
  PeEpilogue found;
  found.ends = static_cast<std::uint32_t>(leave + size);
  std::uint64_t end = leave;
  for (const unsigned reg : frame.pushed()) {
    found.pops.push_back(static_cast<std::uint32_t>(end));
    const auto pop = pop_before(code, end, reg);
    if (!pop) {
      return std::nullopt;
    }
    end = *pop;
  }
  std::ranges::reverse(found.pops);
  found.begins = static_cast<std::uint32_t>(end);
  const bool by_register = frame.has_frame_register() && !found.pops.empty();
  const bool freed = frame.allocated() != 0 && frees_before(code, end, frame.allocated());
  // A switch jumps by a register too, and one byte before may be anything.
  const unsigned second = byte_at(code, leave + size - 1) & 0xf8U;
  const bool may_be_switch = second == 0xe0 && byte_at(code, leave + size - 2) == 0xff;
  const bool sure = freed || !may_be_switch || found.pops.size() > 1;
  return sure && (by_register || freed || frame.allocated() == 0) ? std::optional(found)
                                                                  : std::nullopt;
}

}  // namespace

std::vector<PeEpilogue> find_pe_epilogues(ByteView code, const PeFrameWriter& frame,
                                          std::size_t most) {
  std::vector<PeEpilogue> found;
  const bool has_any = !frame.pushed().empty() || frame.allocated() != 0;
  if (!frame.is_plain() || !has_any) {
    return found;
  }
  for (std::uint64_t at = 1; at < code.size() && found.size() < most; ++at) {
    check_interrupt_at(at, kManyBytes);
    const std::uint32_t size = size_of_leave(code, at);
    auto epilogue = size == 0 ? std::nullopt : epilogue_at(code, at, size, frame);
    const bool apart = epilogue && (found.empty() || epilogue->begins >= found.back().ends);
    if (apart && epilogue->ends <= code.size()) {
      found.push_back(std::move(*epilogue));
    }
  }
  return found;
}

}  // namespace whocall
