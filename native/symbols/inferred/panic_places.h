// Where code takes the places in the source that Rust programs keep for their panics.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"

namespace whocall {

// One instruction that takes the address of a core::panic::Location: pointer and length of the
// file's name, line, column. The compiler passes it to whatever may panic.
struct PanicPlace {
  Address at = 0;          // link address of the instruction
  std::uint32_t file = 0;  // index in PanicPlaces::files
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// Those of one file.
struct PanicPlaces {
  std::vector<std::string> files;   // as the compiler was given them
  std::vector<PanicPlace> places;   // ascending by `at`
  std::vector<std::uint32_t> same;  // indexes of places, those of one place in the source together

  [[nodiscard]] std::span<const PanicPlace> in(AddressRange range) const;
  // Whether anything outside `ranges` takes the same place: it is that of an inlined function.
  [[nodiscard]] bool is_shared(const PanicPlace& place, std::span<const AddressRange> ranges) const;
  // Puts `places` and `same` in order.
  void sort();
};

// Looks through all data and code; soon done where nothing is Rust's.
PanicPlaces find_panic_places(const ElfFile& file, const Architecture& arch);

}  // namespace whocall
