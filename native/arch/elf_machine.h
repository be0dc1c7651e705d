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
  // The section of procedure descriptors, object/mips_procedure_table.h; empty: none.
  std::string_view procedure_section{};
  // Of stubs that hand a symbol's number to the loader, where others have a linkage table; the
  // symbol of the function, which is another file's, has its stub's address. Empty: none.
  std::string_view stub_section{};
  // libbfd counts slots of linkage tables, instead of reading their code: symbols/table/
  // plt_symbols.cpp tells what comes of it.
  bool has_counted_slots = false;
  // DT_* of the words that the loader fills in without being told by relocations, object/
  // implicit_got.h: how many belong to no symbol, and the first symbol of the others. 0: none.
  std::int64_t local_words_tag = 0;
  std::int64_t first_symbol_tag = 0;
  // Static code counts distances from the section .got, too, which no dynamic table names.
  bool counts_from_got_section = false;
  // Of 8-byte files the first 4 bytes of r_info are the symbol, the last one the type.
  bool has_symbol_first = false;
  // siginfo_t has the code in front of the error number.
  bool has_code_first = false;

  [[nodiscard]] bool has_marks() const { return !marks.empty(); }
  [[nodiscard]] bool is_mark(std::string_view symbol) const;
};

// By EM_* number; one without a name of its own when unknown.
const ElfMachine& elf_machine(std::uint16_t number);

}  // namespace whocall
