// Names in a PE file: what it exports, and its COFF symbols.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "object/pe_headers.h"

namespace whocall {

struct PeName {
  std::string_view name;      // of the file's bytes
  std::uint32_t address = 0;  // RVA
  bool is_code = false;
  bool is_global = false;
};

// Those of the export table that are addresses and no names of other files' exports. `most` limits
// the rows that are read.
std::vector<PeName> exports_of_pe(const PeBytes& bytes, const PeHeaders& headers,
                                  std::uint64_t most);
// Those of .exe and .dll files that a linker of GNU wrote and nobody stripped. Without the
// underscore that C's names have on i386.
std::vector<PeName> symbols_of_pe(const PeBytes& bytes, const PeHeaders& headers,
                                  std::uint64_t most);

}  // namespace whocall
