#include "arch/mips/relocations.h"

#include <elf.h>

#include <algorithm>
#include <array>

#include "arch/mips/dialect.h"

namespace whocall::mips {
namespace {

using Kind = RelocationKind;

constexpr std::uint32_t kPc32 = 248;  // R_MIPS_PC32
// Opcodes.
constexpr std::uint32_t kLoad = 0x23;      // lw
constexpr std::uint32_t kLoadWide = 0x37;  // ld

// Those that write the lower half of an instruction, and no more than what follows from two of them
// or from a page of the table. R_MIPS_GOT16 is one: it leads to a page where the symbol is local.
constexpr std::array<std::uint32_t, 24> kHalves = {R_MIPS_HI16,
                                                   R_MIPS_LO16,
                                                   R_MIPS_GPREL16,
                                                   R_MIPS_LITERAL,
                                                   R_MIPS_GOT16,
                                                   R_MIPS_PC16,
                                                   R_MIPS_GOT_PAGE,
                                                   R_MIPS_GOT_OFST,
                                                   R_MIPS_GOT_HI16,
                                                   R_MIPS_GOT_LO16,
                                                   R_MIPS_HIGHER,
                                                   R_MIPS_HIGHEST,
                                                   R_MIPS_CALL_HI16,
                                                   R_MIPS_CALL_LO16,
                                                   R_MIPS_TLS_GD,
                                                   R_MIPS_TLS_LDM,
                                                   R_MIPS_TLS_DTPREL_HI16,
                                                   R_MIPS_TLS_DTPREL_LO16,
                                                   R_MIPS_TLS_GOTTPREL,
                                                   R_MIPS_TLS_TPREL_HI16,
                                                   R_MIPS_TLS_TPREL_LO16,
                                                   R_MIPS_SUB,
                                                   R_MIPS_REL16,
                                                   R_MIPS_16};
constexpr std::array kFromTable = {R_MIPS_CALL16, R_MIPS_GOT_DISP};
// Whole words. A call through a register may become one of a near function, whose relocation tells
// the symbol all the same.
constexpr std::array<RelocationForm, 7> kWhole = {
    RelocationForm{R_MIPS_NONE, 0, 0, 0, Kind::opaque},
    RelocationForm{R_MIPS_26, 4, 0, 4, Kind::opaque},
    RelocationForm{R_MIPS_JALR, 4, 0, 4, Kind::got_slot},
    RelocationForm{R_MIPS_32, 4, 0, 4, Kind::absolute},
    RelocationForm{R_MIPS_64, 8, 0, 8, Kind::absolute},
    RelocationForm{R_MIPS_GPREL32, 4, 0, 4, Kind::opaque},
    RelocationForm{kPc32, 4, 0, 4, Kind::pc_relative}};

template <Endian Order>
constexpr auto kForms = [] {
  constexpr std::int8_t kFirst = Order == Endian::big ? 2 : 0;
  std::array<RelocationForm, kHalves.size() + kFromTable.size() + kWhole.size()> forms{};
  auto to = forms.begin();
  for (const std::uint32_t type : kHalves) {
    *to++ = {type, 4, kFirst, kFirst + 2, Kind::opaque};
  }
  for (const std::uint32_t type : kFromTable) {
    *to++ = {type, 4, kFirst, kFirst + 2, Kind::got_slot};
  }
  std::ranges::copy(kWhole, to);
  return forms;
}();

}  // namespace

std::span<const RelocationForm> relocations(Endian order) {
  return order == Endian::big ? std::span<const RelocationForm>(kForms<Endian::big>)
                              : std::span<const RelocationForm>(kForms<Endian::little>);
}

RelocatedTarget got_target(const RelocatedPlace& place) {
  constexpr std::uint32_t kCall = 0x0411;  // bal
  constexpr std::uint32_t kJump = 0x1000;  // b
  const auto word = place.code.read<std::uint32_t>(place.offset);
  if (!word) {
    return {};
  }
  const auto distance = std::int64_t{static_cast<std::int16_t>(*word)};
  if (*word >> 16U == kCall || *word >> 16U == kJump) {
    return {.symbol = place.address + place.offset + 4 + static_cast<Address>(distance * 4)};
  }
  const bool loads = *word >> 26U == kLoad || *word >> 26U == kLoadWide;
  if (!loads || !place.got) {
    return {};
  }
  return {.slot = *place.got + kGpBehindTable + static_cast<Address>(distance)};
}

}  // namespace whocall::mips
