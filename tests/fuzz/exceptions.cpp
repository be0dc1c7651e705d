// Hostile exception tables of ARM: what is found lies where it is looked for, every list of
// instructions ends, and its row can be applied. The first byte says how the rest is divided: so
// many eighths are the index, the others what it points to; its top bit is the order of bytes.
#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/arm/facts.h"
#include "memory/segment_memory.h"
#include "object/exidx.h"
#include "unwind/rows/apply_row.h"
#include "unwind/rows/exidx_program.h"

namespace {

using namespace whocall;

constexpr AddressRange kCode{0x8000, 0x9000};
constexpr Address kIndex = 0xa000;
constexpr Address kApart = 0x10000;
constexpr Address kStack = 0x20000;

void use(const ExidxEntry& entry, const Memory& memory) {
  const auto row = compile(entry, kArm);
  if (!row) {
    return;
  }
  Activation callee;
  callee.pc = entry.range.begin;
  for (Register number = 0; number < 16; ++number) {
    callee.registers.set(number, kStack + 4 * number);
  }
  (void)apply_row(*row, callee, kArm, memory);
  (void)to_string(row->cfa, kArm);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const ByteView rest(std::as_bytes(std::span(data + 1, size - 1)),
                      (data[0] & 0x80U) != 0 ? Endian::big : Endian::little);
  const std::uint64_t split = rest.size() * (data[0] & 7U) / 8;
  const ByteView apart = rest.from(split);
  const auto bytes_at = [&](Address address) {
    return address < kApart ? ByteView() : apart.from(address - kApart);
  };
  const Exidx index({*rest.slice(0, split), kIndex}, bytes_at, {kCode});
  const SegmentMemory memory({{kStack, rest.bytes()}});
  for (std::size_t i = 0; i < index.size(); ++i) {
    const ExidxEntry entry = index.at(i);
    if (!kCode.contains(entry.range.begin) || entry.range.end > kCode.end) {
      __builtin_trap();
    }
    use(entry, memory);
  }
  for (Address at = kCode.begin - 4; at < kCode.end + 4; at += 64) {
    const auto entry = index.find(at);
    if (entry && !entry->range.contains(at)) {
      __builtin_trap();
    }
  }
  (void)index.function_starts();
  (void)compile({kCode, ExidxEntry::Kind::inlined, {data + 1, data + size}}, kArm);
  return 0;
}
