// Where C++ exceptions land: the call site tables that an FDE (.gcc_except_table) or an entry of
// ARM's index (.ARM.extab) points to.
//
// Layout: the "exception handling tables" of the Itanium C++ ABI as GCC writes them (LSDA header
// and call site table; the action and type tables are not needed to know where execution goes on).
#pragma once

#include <cstddef>
#include <vector>

#include "base/address.h"
#include "object/call_frame_info.h"
#include "object/elf_file.h"
#include "object/exidx.h"

namespace whocall {

struct LandingPad {
  AddressRange calls;   // when a call in here throws (link addresses) ...
  Address address = 0;  // ... execution goes on here (link address); maybe in another part
};

// Calls that the tables of all functions of a file tell of: more than those of the largest program.
inline constexpr std::size_t kMostTableCalls = std::size_t{1} << 22U;

// Those of one function, in the order of its table; empty where it has none or the table is
// damaged. `left`: of so many calls at most, which becomes the less: functions may share a table.
std::vector<LandingPad> landing_pads_of(const ElfFile& file, const Fde& fde, std::size_t& left);
std::vector<LandingPad> landing_pads_of(const ElfFile& file, const ExidxEntry& entry,
                                        std::size_t& left);

// The same of one function alone.
template <typename Entry>
std::vector<LandingPad> landing_pads_of(const ElfFile& file, const Entry& entry) {
  std::size_t left = kMostTableCalls;
  return landing_pads_of(file, entry, left);
}

}  // namespace whocall
