// Places in the source that the code of one function names: those of Rust's panics, and __FILE__
// and __LINE__, which assertions and loggers get.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"
#include "symbols/inferred/panic_places.h"

namespace whocall {

// Link addresses throughout.
struct CodePlace {
  Address at = 0;       // of the instruction that names it
  AddressRange call{};  // the call instruction that gets it; empty: not known
  std::string file;     // as the compiler was given it
  std::uint32_t line = 0;
  std::uint32_t column = 0;  // 0: not told
  bool is_rust = false;
  bool is_shared = false;  // other functions name it too
  // From where the code around `at` is reached: branches of the checks that may fail. Ascending,
  // never empty.
  std::vector<Address> reached_from{};
};

// In the order of their addresses. The ranges are those of the function and of its parts that lie
// elsewhere. A place in a call is one where a path of a source file is followed by a number.
std::vector<CodePlace> code_places(const ElfFile& file, const Architecture& arch,
                                   const std::vector<AddressRange>& ranges,
                                   const PanicPlaces& panics);

// The range itself, and those of the parts of the function that lie elsewhere (gcc's f.cold):
// where conditional jumps go, which are no calls, and an unwind table delimits the code.
std::vector<AddressRange> ranges_of_function(const ElfFile& file, const Architecture& arch,
                                             AddressRange function);

// What an unwind table delimits around `address`; empty where none does.
AddressRange delimited_at(const ElfFile& file, Address address);

}  // namespace whocall
