#include "arch/x86/code.h"

#include <cstring>

#include "arch/x86/opcode_filter.h"
#include "base/interrupt.h"

namespace whocall::x86 {
namespace {

constexpr std::uint8_t kCallRelative = 0xe8;
constexpr std::uint8_t kGroup5 = 0xff;  // FF /2 is call, FF /4 is jmp
constexpr unsigned kCallExtension = 2;

enum class Mode : std::uint8_t { bits32, bits64 };

constexpr Address kMask32 = 0xffffffff;

Address wrap(Mode mode, Address address) {
  return mode == Mode::bits64 ? address : address & kMask32;
}

Address sign_extend(std::uint32_t value) {
  return static_cast<Address>(static_cast<std::int64_t>(static_cast<std::int32_t>(value)));
}

// `call *r/m` of exactly `length` bytes (without prefixes) at the end of `before`.
std::optional<CallSite> indirect_call(ByteView before, std::size_t length, Address return_address,
                                      Mode mode) {
  const std::size_t start = before.size() - length;
  const auto opcode = before.read<std::uint8_t>(start);
  const auto modrm = before.read<std::uint8_t>(start + 1);
  if (opcode != kGroup5 || !modrm || ((*modrm >> 3U) & 7U) != kCallExtension) {
    return std::nullopt;
  }
  const std::uint8_t sib = before.read<std::uint8_t>(start + 2).value_or(0);
  if (1 + modrm_size(*modrm, sib) != length) {
    return std::nullopt;
  }
  CallSite call{.size = static_cast<std::uint8_t>(length), .indirect = true};
  const bool names_slot = (*modrm & 0xc7U) == 0x05;  // disp32 alone: pc-relative or absolute
  const auto prefix = start > 0 ? before.read<std::uint8_t>(start - 1) : std::nullopt;
  const bool segment_override = prefix == 0x64 || prefix == 0x65;  // %gs:0x10, the i386 vsyscall
  if (names_slot && !segment_override) {
    const Address displacement = sign_extend(before.read<std::uint32_t>(start + 2).value_or(0));
    call.slot = mode == Mode::bits64 ? return_address + displacement : displacement & kMask32;
  }
  return call;
}

// Folklore: the five bytes before a return address may read as a direct call by chance, when they
// are the tail of something else. Such a "call" goes gigabytes away; where an indirect call also
// ends there, the indirect one is believed.
constexpr std::int32_t kFarthestSaneCall = 0x20000000;

std::optional<CallSite> call_before(ByteView before, Address return_address, Mode mode) {
  std::optional<CallSite> direct;
  if (before.size() >= 5 && before.read<std::uint8_t>(before.size() - 5) == kCallRelative) {
    const std::uint32_t distance = before.read<std::uint32_t>(before.size() - 4).value_or(0);
    direct = CallSite{.size = 5, .target = wrap(mode, return_address + sign_extend(distance))};
    const auto signed_distance = static_cast<std::int32_t>(distance);
    if (signed_distance < kFarthestSaneCall && signed_distance > -kFarthestSaneCall) {
      return direct;
    }
  }
  for (std::size_t length = 2; length <= 7 && length <= before.size(); ++length) {
    if (auto call = indirect_call(before, length, return_address, mode)) {
      return call;
    }
  }
  return direct;
}

// jmp *table(,%reg,scale)
void append_jump_tables(ByteView code, Mode mode, std::vector<Address>& tables) {
  constexpr std::size_t kLength = 7;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(code.bytes().data());
  std::size_t asked = 0;
  for (std::size_t at = 0; at + kLength <= code.size(); ++at) {
    // The library looks at many bytes at once; few are these.
    const void* const found = std::memchr(bytes + at, kGroup5, code.size() - kLength + 1 - at);
    if (found == nullptr) {
      break;
    }
    check_interrupt_at(asked++, kManyEntries);
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes);
    if (bytes[at + 1] == 0x24 && (bytes[at + 2] & 7U) == 5) {
      tables.push_back(wrap(mode, code.read<std::uint32_t>(at + 3).value_or(0)));
    }
  }
}

// jmp rel32 and jcc rel32: what leaves a function is never short.
void append_direct_jumps(ByteView code, Address address, AddressRange wanted, Mode mode,
                         std::vector<DirectJump>& jumps) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(code.bytes().data());
  const auto look_at = [&](std::size_t at) {
    const std::size_t distance_at = bytes[at] == 0xe9 ? at + 1 : at + 2;
    if (const auto distance = code.read<std::uint32_t>(distance_at)) {
      const Address target = wrap(mode, address + distance_at + 4 + sign_extend(*distance));
      if (wanted.contains(target)) {
        jumps.push_back({address + at, target});
      }
    }
  };
  std::size_t at = 0;
  for (; at + kLane < code.size(); at += kLane) {
    Lane byte;
    Lane next;
    std::memcpy(&byte, bytes + at, kLane);
    std::memcpy(&next, bytes + at + 1, kLane);
    const Lane leads = Lane(byte == 0xe9) | Lane((byte == 0x0f) & ((next & 0xf0) == 0x80));
    for_each_set(leads, [&](std::size_t index, auto) { look_at(at + index); });
  }
  for (; at + 1 < code.size(); ++at) {
    if (bytes[at] == 0xe9 || (bytes[at] == 0x0f && (bytes[at + 1] & 0xf0U) == 0x80)) {
      look_at(at);
    }
  }
}

// Where the jump instruction starts, behind a landing pad (endbr) and a bnd or notrack prefix.
std::uint64_t skip_to_jump(ByteView code) {
  const auto word = code.read<std::uint32_t>(0);
  const std::uint64_t at = word == kEndbr64 || word == kEndbr32 ? 4 : 0;
  const auto prefix = code.read<std::uint8_t>(at);
  return prefix == 0xf2 || prefix == 0x3e ? at + 1 : at;
}

std::optional<JumpStub> jump_stub(ByteView code, Address address, Mode mode) {
  const std::uint64_t at = skip_to_jump(code);
  const auto opcode = code.read<std::uint8_t>(at);
  if (opcode == 0xeb) {  // jmp rel8
    const auto distance = code.read<std::uint8_t>(at + 1);
    if (!distance) {
      return std::nullopt;
    }
    const auto reach = static_cast<Address>(std::int64_t{static_cast<std::int8_t>(*distance)});
    return JumpStub{.target = wrap(mode, address + at + 2 + reach)};
  }
  if (opcode == 0xe9) {  // jmp rel32
    const auto distance = code.read<std::uint32_t>(at + 1);
    if (!distance) {
      return std::nullopt;
    }
    return JumpStub{.target = wrap(mode, address + at + 5 + sign_extend(*distance))};
  }
  const auto modrm = code.read<std::uint8_t>(at + 1);
  const auto displacement = code.read<std::uint32_t>(at + 2);
  if (opcode != kGroup5 || !displacement) {
    return std::nullopt;
  }
  if (modrm == 0x25) {  // jmp *disp32: pc-relative or absolute
    const Address reach = sign_extend(*displacement);
    return JumpStub{.slot = mode == Mode::bits64 ? address + at + 6 + reach : reach & kMask32};
  }
  if (modrm == 0xa3 && mode == Mode::bits32) {  // jmp *disp32(%ebx)
    return JumpStub{.slot_behind_got = sign_extend(*displacement)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<CallSite> call_before_64(ByteView before, Address return_address) {
  return call_before(before, return_address, Mode::bits64);
}
std::optional<CallSite> call_before_32(ByteView before, Address return_address) {
  return call_before(before, return_address, Mode::bits32);
}
void append_jump_tables_64(ByteView code, std::vector<Address>& tables) {
  append_jump_tables(code, Mode::bits64, tables);
}
void append_jump_tables_32(ByteView code, std::vector<Address>& tables) {
  append_jump_tables(code, Mode::bits32, tables);
}

// ret, ret imm16, hlt, ud2, jmp rel32, int3, and the last bytes of the usual nops.
bool flow_ends(ByteView before) {
  const std::size_t size = before.size();
  const auto byte = [&](std::size_t back) {
    return back <= size ? before.read<std::uint8_t>(size - back).value_or(0) : 0;
  };
  const bool ends = byte(1) == 0xc3 || byte(3) == 0xc2 || byte(1) == 0xf4 || byte(5) == 0xe9 ||
                    (byte(2) == 0x0f && byte(1) == 0x0b) || (byte(2) == 0xeb) ||
                    (byte(2) == 0xff && (byte(1) & 0xf8U) == 0xe0);  // jmp *%rbx
  const bool padded = byte(1) == 0xcc || byte(1) == 0x90 || byte(1) == 0x00;
  return ends || padded;
}

void append_direct_jumps_64(ByteView code, Address address, AddressRange wanted,
                            std::vector<DirectJump>& jumps) {
  append_direct_jumps(code, address, wanted, Mode::bits64, jumps);
}
void append_direct_jumps_32(ByteView code, Address address, AddressRange wanted,
                            std::vector<DirectJump>& jumps) {
  append_direct_jumps(code, address, wanted, Mode::bits32, jumps);
}
std::optional<JumpStub> jump_stub_64(ByteView code, Address address) {
  return jump_stub(code, address, Mode::bits64);
}
std::optional<JumpStub> jump_stub_32(ByteView code, Address address) {
  return jump_stub(code, address, Mode::bits32);
}

}  // namespace whocall::x86
