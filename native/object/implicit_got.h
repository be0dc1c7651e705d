// Global offset tables that the loader fills in without being told by relocations: those of MIPS.
//
// Source: System V ABI, MIPS RISC Processor Supplement, "Global Offset Table". The words belong to
// no symbol at first (DT_MIPS_LOCAL_GOTNO of them; the loader adds the load bias to each) and then
// to the last dynamic symbols, one each (from DT_MIPS_GOTSYM on).
#pragma once

#include <cstdint>
#include <optional>

#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

struct ImplicitGot {
  AddressRange local{};  // link addresses of the words with no symbol
  std::uint64_t first_symbol =
      0;  // index in .dynsym of what the first word behind them is bound to
};

// A miss for files of machines without such tables and for static programs.
std::optional<ImplicitGot> implicit_got(const ElfFile& file);

}  // namespace whocall
