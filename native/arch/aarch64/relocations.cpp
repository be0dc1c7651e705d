// "ELF for the Arm 64-bit Architecture", 5.7 "Relocation types".
#include "arch/aarch64/relocations.h"

#include <elf.h>

#include <array>

#include "arch/aarch64/fields.h"

namespace whocall::aarch64 {
namespace {

using Kind = RelocationKind;

// The types from `first` to `last` that write a field of an instruction, which says nothing by
// itself: half of an address, or a place that depends on where the linker has put things.
struct Fields {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
constexpr std::array kFields = {
    Fields{R_AARCH64_MOVW_UABS_G0, R_AARCH64_CONDBR19},
    Fields{R_AARCH64_LDST16_ABS_LO12_NC, R_AARCH64_LDST64_ABS_LO12_NC},
    Fields{R_AARCH64_MOVW_PREL_G0, R_AARCH64_MOVW_PREL_G3},
    Fields{R_AARCH64_LDST128_ABS_LO12_NC, R_AARCH64_LDST128_ABS_LO12_NC},
    Fields{R_AARCH64_GOT_LD_PREL19, R_AARCH64_LD64_GOTPAGE_LO15},
    Fields{R_AARCH64_TLSGD_ADR_PREL21, R_AARCH64_TLSGD_ADR_PAGE21},
    Fields{R_AARCH64_TLSGD_MOVW_G1, R_AARCH64_TLSDESC_CALL},
    Fields{R_AARCH64_TLSLE_LDST128_TPREL_LO12, R_AARCH64_TLSLD_LDST128_DTPREL_LO12_NC}};
constexpr std::array kOthers = {
    RelocationForm{R_AARCH64_NONE, 0, 0, 0, Kind::opaque},
    RelocationForm{R_AARCH64_ABS64, 8, 0, 8, Kind::absolute},
    RelocationForm{R_AARCH64_ABS32, 4, 0, 4, Kind::absolute},
    RelocationForm{R_AARCH64_ABS16, 2, 0, 2, Kind::opaque},
    RelocationForm{R_AARCH64_PREL64, 8, 0, 8, Kind::pc_relative},
    RelocationForm{R_AARCH64_PREL32, 4, 0, 4, Kind::pc_relative},
    RelocationForm{R_AARCH64_PREL16, 2, 0, 2, Kind::opaque},
    RelocationForm{R_AARCH64_JUMP26, 4, 0, 4, Kind::branch_field},
    RelocationForm{R_AARCH64_CALL26, 4, 0, 4, Kind::branch_field},
    // add x0, x0, #low; bl __tls_get_addr; nop: the linker may need none of them.
    RelocationForm{R_AARCH64_TLSGD_ADD_LO12_NC, 4, 0, 12, Kind::opaque}};

constexpr std::size_t kCount = [] {
  std::size_t count = kOthers.size();
  for (const Fields& each : kFields) {
    count += each.last - each.first + 1;
  }
  return count;
}();

constexpr auto kForms = [] {
  std::array<RelocationForm, kCount> forms{};
  auto* to = forms.data();
  for (const Fields& each : kFields) {
    for (std::uint32_t type = each.first; type <= each.last; ++type) {
      *to++ = {type, 4, 0, 4, Kind::opaque};
    }
  }
  for (const RelocationForm& each : kOthers) {
    *to++ = each;
  }
  return forms;
}();

}  // namespace

std::span<const RelocationForm> relocations() { return kForms; }

// A call of a weak function that is not there has become a nop.
RelocatedTarget got_target(const RelocatedPlace& place) {
  const std::uint32_t word = word_at(place.code, place.offset).value_or(0);
  if (!is(word, 0x7c000000, 0x14000000)) {
    return {};
  }
  const auto distance = static_cast<Address>(signed_bits(word, 0, 26) * 4);
  return {.symbol = place.address + place.offset + distance - static_cast<Address>(place.addend)};
}

}  // namespace whocall::aarch64
