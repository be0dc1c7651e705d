// What the files and cores of a machine have of its own, whether or not its stacks can be walked.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/address.h"

namespace whocall {

struct ElfMachine {
  std::uint16_t number = 0;  // EM_*
  std::string_view name;     // "x86-64", "ARM": a reader's word for it

  // Bits of a function symbol's value that tell the mode of its code and are no part of its
  // address.
  Address function_mode_bits = 0;
  std::uint8_t function_type = 0;  // STT_* of functions, besides STT_FUNC; 0: none
  // Symbols that mark code and data inside sections are '$' and one of these letters, alone or
  // before a dot; of the second list, before any text.
  std::string_view marks{};
  std::string_view marks_with_text{};
  // Words of DT_HASH have 8 bytes in files whose pointers have this many; 0: never.
  std::uint8_t wide_hash_pointer = 0;  // bytes

  // PT_* of the index of exception tables beside those of DWARF; 0: none.
  std::uint32_t exception_index = 0;
  // The dynamic linker's list is found by DT_MIPS_RLD_MAP, as the dynamic table is read-only.
  bool has_rld_map = false;
  // The section of procedure descriptors, object/procedure_table.h; empty: none.
  std::string_view procedure_section{};

  [[nodiscard]] bool has_marks() const { return !marks.empty(); }
  [[nodiscard]] bool is_mark(std::string_view symbol) const;
};

// By EM_* number; one without a name of its own when unknown.
const ElfMachine& elf_machine(std::uint16_t number);

}  // namespace whocall
