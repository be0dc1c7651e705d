#include "arch/arm/linkage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "arch/arm/fields.h"

namespace whocall::arm {
namespace {

// add ip, FROM, #imm: 8 bits, turned right. A miss for anything else.
std::optional<std::uint32_t> added(std::optional<std::uint32_t> word, Register from) {
  if (!word || !is(*word, 0xfff0f000, 0xe280c000) || number(*word, 16) != from) {
    return std::nullopt;
  }
  return std::rotr(bits(*word, 0, 8), static_cast<int>(bits(*word, 8, 4) * 2));
}

// add ip,pc,#high; add ip,ip,#middle; ldr pc,[ip,#low]! in A32; of far tables four.
std::optional<JumpStub> slot_of_table(ByteView code, Address address) {
  const auto high = added(word_at(code, 0), kPc);
  if (!high) {
    return std::nullopt;
  }
  Address slot = address + 8 + *high;
  std::uint64_t at = 4;
  for (auto more = added(word_at(code, at), kScratch); more && at <= 8;
       more = added(word_at(code, at), kScratch)) {
    slot += *more;
    at += 4;
  }
  const auto load = word_at(code, at);
  if (!load || !is(*load, 0xfffff000, 0xe5bcf000)) {
    return std::nullopt;
  }
  return JumpStub{.slot = wrapped(slot + bits(*load, 0, 12))};
}

std::optional<JumpStub> stub_of_a32(ByteView code, Address address, Endian data) {
  const auto word = word_at(code, 0);
  if (!word) {
    return std::nullopt;
  }
  if (is(*word, 0xff000000, 0xea000000)) {
    const std::int64_t to = sign_extended(bits(*word, 0, 24), 24) * 4;
    return JumpStub{.target = wrapped(address + 8 + static_cast<Address>(to))};
  }
  const auto behind = data_word_at(code, 4, data);
  if (*word == 0xe51ff004 && behind) {  // ldr pc,[pc,#-4] and the address
    return JumpStub{.target = Address{*behind & ~1U}};
  }
  return slot_of_table(code, address);
}

}  // namespace

// A slot of the PLT, and what linkers put before a far function or one of the other mode. Where T32
// comes in, bx pc and a nop stand first.
template <Endian Data>
std::optional<JumpStub> jump_stub(ByteView code, Address address) {
  const std::uint32_t first = half_at(code, 0).value_or(0);
  if (first == 0x4778) {
    return stub_of_a32(code.from(4), address + 4, Data);
  }
  const std::uint32_t second = half_at(code, 2).value_or(0);
  const auto behind = data_word_at(code, 4, Data);
  if (first == 0xf8df && second == 0xf000 && behind) {  // ldr.w pc,[pc] and the address
    return JumpStub{.target = Address{*behind & ~1U}};
  }
  return address % 4 == 0 ? stub_of_a32(code, address, Data) : std::nullopt;
}

// _start of glibc in T32. It begins with mov.w fp,#0; mov.w lr,#0; pop {r1}; later it has ldr.w
// sl,[pc,#24]; adr r3; add sl,r3, which is the GOT's address, and ldr r0,[pc,#16]; ldr.w
// r0,[sl,r0], which is main: its distance and that of main's slot are the two words at its end.
template <Endian Data>
std::optional<StartupCode> startup(ByteView code, Address address) {
  constexpr std::array<std::uint32_t, 5> kBegin = {0xf04f, 0x0b00, 0xf04f, 0x0e00, 0xbc02};
  constexpr std::array<std::uint32_t, 4> kGot = {0xf8df, 0xa018, 0xa305, 0x449a};
  constexpr std::array<std::uint32_t, 3> kMain = {0x4804, 0xf85a, 0x0000};
  constexpr std::uint64_t kWords = 0x2c;
  const auto stands = [&](std::uint64_t at, std::span<const std::uint32_t> halves) {
    return std::ranges::all_of(halves, [&](std::uint32_t half) {
      at += 2;
      return half_at(code, at - 2) == half;
    });
  };
  const auto got = data_word_at(code, kWords, Data);
  const auto slot = data_word_at(code, kWords + 4, Data);
  if (!stands(0, kBegin) || !stands(0x10, kGot) || !stands(0x1e, kMain) || !got || !slot) {
    return std::nullopt;
  }
  StartupCode found;
  found.main_slot = wrapped(address + kWords + *got + *slot);
  return found;
}

template std::optional<JumpStub> jump_stub<Endian::little>(ByteView, Address);
template std::optional<JumpStub> jump_stub<Endian::big>(ByteView, Address);
template std::optional<StartupCode> startup<Endian::little>(ByteView, Address);
template std::optional<StartupCode> startup<Endian::big>(ByteView, Address);

}  // namespace whocall::arm
