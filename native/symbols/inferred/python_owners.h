// Whose methods a table of Python's C interface lists. Source: Python's documentation, "Type
// Objects", "Module Objects" and "Common Object Structures".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "object/elf_file.h"
#include "symbols/inferred/record_tables.h"

namespace whocall {

class PythonOwners {
 public:
  PythonOwners(const ElfFile& file, const DataWords& words, const RecordWords& records);

  // "list", "collections.deque": the type or the module whose table of methods begins at `table`;
  // empty: none, or several.
  [[nodiscard]] std::string_view owner_of(Address table) const;

  // The functions that types have in their own slots: "list.tp_repr".
  [[nodiscard]] const std::vector<std::pair<Address, std::string>>& slots() const { return slots_; }

 private:
  void read_type(Address type);

  const ElfFile& file_;
  const RecordWords& records_;
  std::vector<std::pair<Address, std::string_view>> owners_;  // by the table, ascending
  std::vector<std::pair<Address, std::string>> slots_;
};

}  // namespace whocall
