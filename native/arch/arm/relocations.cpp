// "ELF for the Arm Architecture", 5.6 "Relocation"; addends stand in the code.
#include "arch/arm/relocations.h"

#include <elf.h>

#include <array>

#include "arch/arm/decoder.h"

namespace whocall::arm {
namespace {

using Kind = RelocationKind;

constexpr std::array kBranches = {R_ARM_PC24,     R_ARM_PLT32,      R_ARM_CALL,      R_ARM_JUMP24,
                                  R_ARM_THM_PC22, R_ARM_THM_JUMP24, R_ARM_THM_JUMP19};
// Fields of instructions that say nothing by themselves, and words of other tables.
constexpr std::array kOpaque = {R_ARM_V4BX,
                                R_ARM_GOT32,
                                R_ARM_GOT_PREL,
                                R_ARM_TARGET1,
                                R_ARM_TARGET2,
                                R_ARM_PREL31,
                                R_ARM_MOVW_ABS_NC,
                                R_ARM_MOVT_ABS,
                                R_ARM_MOVW_PREL_NC,
                                R_ARM_MOVT_PREL,
                                R_ARM_THM_MOVW_ABS_NC,
                                R_ARM_THM_MOVT_ABS,
                                R_ARM_THM_MOVW_PREL_NC,
                                R_ARM_THM_MOVT_PREL,
                                R_ARM_TLS_GOTDESC,
                                R_ARM_TLS_CALL,
                                R_ARM_TLS_DESCSEQ,
                                R_ARM_THM_TLS_CALL,
                                R_ARM_TLS_GD32,
                                R_ARM_TLS_LDM32,
                                R_ARM_TLS_LDO32,
                                R_ARM_TLS_IE32,
                                R_ARM_TLS_LE32,
                                R_ARM_THM_ALU_PREL_11_0,
                                R_ARM_THM_PC12};
constexpr std::array kOthers = {RelocationForm{R_ARM_NONE, 0, 0, 0, Kind::opaque},
                                RelocationForm{R_ARM_ABS32, 4, 0, 4, Kind::absolute},
                                RelocationForm{R_ARM_REL32, 4, 0, 4, Kind::pc_relative},
                                RelocationForm{R_ARM_GOTOFF, 4, 0, 4, Kind::got_offset},
                                RelocationForm{R_ARM_GOTPC, 4, 0, 4, Kind::got_base},
                                RelocationForm{R_ARM_THM_PC11, 2, 0, 2, Kind::opaque},
                                RelocationForm{R_ARM_THM_PC9, 2, 0, 2, Kind::opaque}};

constexpr auto kForms = [] {
  std::array<RelocationForm, kBranches.size() + kOpaque.size() + kOthers.size()> forms{};
  auto* to = forms.data();
  for (const std::uint32_t type : kBranches) {
    *to++ = {type, 4, 0, 4, Kind::branch_field};
  }
  for (const std::uint32_t type : kOpaque) {
    *to++ = {type, 4, 0, 4, Kind::opaque};
  }
  for (const RelocationForm& each : kOthers) {
    *to++ = each;
  }
  return forms;
}();

bool is_thumb(std::uint32_t type) {
  return type == R_ARM_THM_PC22 || type == R_ARM_THM_JUMP24 || type == R_ARM_THM_JUMP19;
}

}  // namespace

std::span<const RelocationForm> relocations() { return kForms; }

RelocatedTarget got_target(const RelocatedPlace& place) {
  const bool thumb = is_thumb(place.type);
  const Address here = place.address + place.offset;
  const auto linked = decode(place.code.from(place.offset), here, thumb);
  // As the compiler left it: it leads to the symbol itself, or to a place behind it.
  const auto addend = static_cast<std::uint32_t>(place.addend);
  const std::array<std::byte, 4> bytes = {std::byte(addend), std::byte(addend >> 8U),
                                          std::byte(addend >> 16U), std::byte(addend >> 24U)};
  const auto made = decode(ByteView(bytes, Endian::little), 0, thumb);
  if (!linked || !made || !linked->target || !made->target) {
    return {};
  }
  constexpr Address kMask = 0xffffffff;
  return {.symbol = (*linked->target - *made->target) & kMask};
}

}  // namespace whocall::arm
