// What x86-64, x32 and i386 share: how calls and jump stubs look in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "arch/architecture.h"
#include "arch/x86/frame_facts.h"

namespace whocall::x86 {

// The three ABIs: i386 code, and 64-bit code with pointers of 8 or of 4 bytes. Where pointers have
// 4, what computes with 4 bytes computes addresses, as the upper half of such a register is zero.
enum class Dialect : std::uint8_t { i386, x86_64, x32 };

// The bits of the flags register that a program cannot change, and those of them that are set: the
// one that is always, and "interrupts on". Of a code segment: whose privilege it gives.
inline constexpr std::uint64_t kFixedFlags = ~std::uint64_t{0x3f7dd5};
inline constexpr std::uint64_t kFixedFlagsSet = 0x202;
inline constexpr std::uint64_t kPrivilege = 3;
inline constexpr std::uint64_t kUser = 3;

// Longest call instruction: REX, FF, ModRM, SIB, disp32.
inline constexpr std::uint8_t kLongestCall = 8;

constexpr FrameChain chain_of(Register fp, const ChainPlaces& places) {
  return {.base = fp,
          .cfa_offset = places.cfa_above_fp,
          .link_offset = places.cfa_above_fp + places.fp_slot,
          .return_address_offset = places.cfa_above_fp + places.return_slot};
}

std::optional<CallSite> call_before_64(ByteView before, Address return_address);
std::optional<CallSite> call_before_32(ByteView before, Address return_address);
void append_start_marks_64(ByteView code, Address address, StartMarks& marks);
void append_start_marks_x32(ByteView code, Address address, StartMarks& marks);
void append_start_marks_32(ByteView code, Address address, StartMarks& marks);
StartFeatures features_at_start_64(ByteView code, std::uint64_t at);
StartFeatures features_at_start_x32(ByteView code, std::uint64_t at);
StartFeatures features_at_start_32(ByteView code, std::uint64_t at);
void append_jump_tables_64(ByteView code, std::vector<Address>& tables);
void append_jump_tables_32(ByteView code, std::vector<Address>& tables);
bool flow_ends(ByteView before);
void append_direct_jumps_64(ByteView code, Address address, AddressRange wanted,
                            std::vector<DirectJump>& jumps);
void append_direct_jumps_32(ByteView code, Address address, AddressRange wanted,
                            std::vector<DirectJump>& jumps);
void append_constant_addresses_64(ByteView code, Address address, const GlobalTable& got,
                                  bool fixed, AddressRange wanted,
                                  std::vector<ConstantAddress>& found);
void append_constant_addresses_x32(ByteView code, Address address, const GlobalTable& got,
                                   bool fixed, AddressRange wanted,
                                   std::vector<ConstantAddress>& found);
void append_constant_addresses_32(ByteView code, Address address, const GlobalTable& got,
                                  bool fixed, AddressRange wanted,
                                  std::vector<ConstantAddress>& found);
void append_named_addresses_64(ByteView code, Address address, const GlobalTable& got, bool fixed,
                               AddressRange wanted, std::vector<Address>& found);
void append_named_addresses_32(ByteView code, Address address, const GlobalTable& got, bool fixed,
                               AddressRange wanted, std::vector<Address>& found);
std::unique_ptr<PlacedReader> make_placed_reader_64(const PlacedImage& image);
std::optional<JumpStub> jump_stub_64(ByteView code, Address address);
std::optional<JumpStub> jump_stub_32(ByteView code, Address address);

// Bytes of ModRM with what follows it (SIB, displacement), Intel SDM volume 2, tables 2-2 and 2-3.
constexpr std::size_t modrm_size(std::uint8_t modrm, std::uint8_t sib) {
  const unsigned mod = modrm >> 6U;
  const unsigned rm = modrm & 7U;
  const bool has_sib = mod != 3 && rm == 4;
  std::size_t size = has_sib ? 2 : 1;
  if (mod == 1) {
    size += 1;
  } else if (mod == 2 || (mod == 0 && rm == 5) || (mod == 0 && has_sib && (sib & 7U) == 5)) {
    size += 4;
  }
  return size;
}

inline constexpr std::uint32_t kEndbr64 = 0xfa1e0ff3;
inline constexpr std::uint32_t kEndbr32 = 0xfb1e0ff3;

}  // namespace whocall::x86
