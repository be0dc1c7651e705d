#include "arch/x86/relocations.h"

#include <elf.h>

#include <array>

namespace whocall::x86 {
namespace {

using Kind = RelocationKind;

// <elf.h> of glibc 2.36 knows all but these.
constexpr std::uint32_t kCode4Gotpcrelx = 43;

// General and local dynamic TLS rewrite two instructions, the call behind the relocation included.
constexpr std::array kForms64 = {
    RelocationForm{R_X86_64_NONE, 0, 0, 0, Kind::opaque},
    RelocationForm{R_X86_64_64, 8, 0, 8, Kind::absolute},
    RelocationForm{R_X86_64_PC64, 8, 0, 8, Kind::pc_relative},
    RelocationForm{R_X86_64_32, 4, 0, 4, Kind::absolute},
    RelocationForm{R_X86_64_32S, 4, 0, 4, Kind::absolute},
    RelocationForm{R_X86_64_PC32, 4, 0, 4, Kind::pc_relative},
    RelocationForm{R_X86_64_PLT32, 4, 0, 4, Kind::branch},
    RelocationForm{R_X86_64_GOTPCREL, 4, -2, 4, Kind::got_slot},
    RelocationForm{R_X86_64_GOTPCRELX, 4, -2, 4, Kind::got_slot},
    RelocationForm{R_X86_64_REX_GOTPCRELX, 4, -3, 4, Kind::got_slot},
    RelocationForm{kCode4Gotpcrelx, 4, -4, 4, Kind::got_slot},
    RelocationForm{R_X86_64_GOTPC32, 4, 0, 4, Kind::opaque},
    RelocationForm{R_X86_64_GOTPC64, 8, 0, 8, Kind::opaque},
    RelocationForm{R_X86_64_GOTOFF64, 8, 0, 8, Kind::opaque},
    RelocationForm{R_X86_64_PLTOFF64, 8, 0, 8, Kind::opaque},
    RelocationForm{R_X86_64_GOT32, 4, 0, 4, Kind::opaque},
    RelocationForm{R_X86_64_GOT64, 8, 0, 8, Kind::opaque},
    RelocationForm{R_X86_64_TLSGD, 4, -4, 12, Kind::opaque},
    RelocationForm{R_X86_64_TLSLD, 4, -3, 10, Kind::opaque},
    RelocationForm{R_X86_64_DTPOFF32, 4, 0, 4, Kind::opaque},
    RelocationForm{R_X86_64_DTPOFF64, 8, 0, 8, Kind::opaque},
    RelocationForm{R_X86_64_GOTTPOFF, 4, -3, 4, Kind::opaque},
    RelocationForm{R_X86_64_TPOFF32, 4, 0, 4, Kind::opaque},
    RelocationForm{R_X86_64_TPOFF64, 8, 0, 8, Kind::opaque},
    RelocationForm{R_X86_64_GOTPC32_TLSDESC, 4, -3, 4, Kind::opaque},
    RelocationForm{R_X86_64_TLSDESC_CALL, 0, 0, 2, Kind::opaque},
    RelocationForm{R_X86_64_SIZE32, 4, 0, 4, Kind::opaque},
    RelocationForm{R_X86_64_SIZE64, 8, 0, 8, Kind::opaque},
};

constexpr std::array kForms32 = {
    RelocationForm{R_386_NONE, 0, 0, 0, Kind::opaque},
    RelocationForm{R_386_32, 4, 0, 4, Kind::absolute},
    RelocationForm{R_386_PC32, 4, 0, 4, Kind::branch},
    RelocationForm{R_386_PLT32, 4, 0, 4, Kind::branch},
    RelocationForm{R_386_GOT32, 4, -2, 4, Kind::got_slot},
    RelocationForm{R_386_GOT32X, 4, -2, 4, Kind::got_slot},
    RelocationForm{R_386_GOTOFF, 4, 0, 4, Kind::got_offset},
    RelocationForm{R_386_GOTPC, 4, 0, 4, Kind::got_base},
    RelocationForm{R_386_TLS_GD, 4, -3, 9, Kind::opaque},
    RelocationForm{R_386_TLS_LDM, 4, -2, 9, Kind::opaque},
    RelocationForm{R_386_TLS_LDO_32, 4, 0, 4, Kind::opaque},
    RelocationForm{R_386_TLS_IE, 4, -2, 4, Kind::opaque},
    RelocationForm{R_386_TLS_IE_32, 4, -2, 4, Kind::opaque},
    RelocationForm{R_386_TLS_GOTIE, 4, -2, 4, Kind::opaque},
    RelocationForm{R_386_TLS_LE, 4, 0, 4, Kind::opaque},
    RelocationForm{R_386_TLS_LE_32, 4, 0, 4, Kind::opaque},
    RelocationForm{R_386_TLS_GOTDESC, 4, -2, 4, Kind::opaque},
    RelocationForm{R_386_TLS_DESC_CALL, 0, 0, 2, Kind::opaque},
    RelocationForm{R_386_SIZE32, 4, 0, 4, Kind::opaque},
};

// The value `back` bytes before the relocation's own place, sign-extended.
std::optional<std::int64_t> value_at(const RelocatedPlace& place, unsigned back = 0) {
  if (place.offset < back) {
    return std::nullopt;
  }
  const auto value = place.code.read<std::uint32_t>(place.offset - back);
  return value ? std::optional<std::int64_t>(static_cast<std::int32_t>(*value)) : std::nullopt;
}

enum class Relaxed : std::uint8_t { no, address, constant, call, shifted_jump };

struct Instruction {
  std::uint8_t opcode = 0;
  std::uint8_t modrm = 0;
};

std::optional<Instruction> instruction_before(const RelocatedPlace& place) {
  const auto opcode =
      place.offset < 2 ? std::nullopt : place.code.read<std::uint8_t>(place.offset - 2);
  const auto modrm =
      place.offset < 2 ? std::nullopt : place.code.read<std::uint8_t>(place.offset - 1);
  return opcode && modrm ? std::optional(Instruction{*opcode, *modrm}) : std::nullopt;
}

Relaxed relaxed(const Instruction& instruction) {
  switch (instruction.opcode) {
    case 0x8d:  // mov from the slot became lea
      return Relaxed::address;
    case 0xc7:  // mov, test and the arithmetic instructions took a constant
    case 0xf7:
    case 0x81:
      return Relaxed::constant;
    case 0x67:  // addr32 call
      return instruction.modrm == 0xe8 ? Relaxed::call : Relaxed::no;
    case 0xe8:  // call, nop
    case 0xe9:  // jmp, nop
      return Relaxed::shifted_jump;
    default:
      return Relaxed::no;
  }
}

// What both instruction sets have in common; a miss where the relocation was not relaxed.
std::optional<Address> branch_or_constant(const RelocatedPlace& place, Relaxed form) {
  const auto value = value_at(place, form == Relaxed::shifted_jump ? 1 : 0);
  if (!value) {
    return std::nullopt;
  }
  const Address here = place.address + place.offset + 4;
  switch (form) {
    case Relaxed::constant:
      return static_cast<Address>(*value);
    case Relaxed::call:
      return here + static_cast<Address>(*value);
    case Relaxed::shifted_jump:
      return here - 1 + static_cast<Address>(*value);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::span<const RelocationForm> relocations_of_64() { return kForms64; }
std::span<const RelocationForm> relocations_of_32() { return kForms32; }

RelocatedTarget got_target_of_64(const RelocatedPlace& place) {
  const auto instruction = instruction_before(place);
  const auto value = value_at(place);
  if (!instruction || !value) {
    return {};
  }
  const Relaxed form = relaxed(*instruction);
  const Address there = place.address + place.offset + static_cast<Address>(*value - place.addend);
  if (form == Relaxed::no) {
    return {.slot = there};
  }
  return {.symbol = form == Relaxed::address ? there : branch_or_constant(place, form)};
}

RelocatedTarget got_target_of_32(const RelocatedPlace& place) {
  const auto instruction = instruction_before(place);
  const auto value = value_at(place);
  if (!instruction || !value) {
    return {};
  }
  constexpr Address kMask = 0xffffffff;
  const Relaxed form = relaxed(*instruction);
  const bool without_base = (instruction->modrm & 0xc7U) == 0x05;
  const bool needs_got = !without_base && (form == Relaxed::no || form == Relaxed::address);
  if (needs_got && !place.got) {
    return {};
  }
  const auto there = (static_cast<Address>(*value) + (needs_got ? *place.got : 0)) & kMask;
  if (form == Relaxed::no) {
    return {.slot = there};
  }
  if (form == Relaxed::address) {
    return {.symbol = there};
  }
  const auto target = branch_or_constant(place, form);
  return target ? RelocatedTarget{.symbol = *target & kMask} : RelocatedTarget();
}

}  // namespace whocall::x86
