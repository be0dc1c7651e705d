// Where functions begin in a file that has no unwind tables and few symbols: the starts that
// symbols and tables tell, the targets of direct calls, landing pads, and code whose address is
// taken.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "object/elf_file.h"
#include "symbols/symbol_table.h"

namespace whocall {

class FunctionStarts {
 public:
  // Looks at all code of the file once; about a gigabyte a second.
  FunctionStarts(const ElfFile& file, const Architecture& arch, const SymbolTable& symbols);

  // From the nearest start at or below `link` to the next one, or to the end of the section
  // (segment, where the section headers are gone). Link addresses. A function that is only called
  // through pointers and has no symbol counts as part of its predecessor.
  [[nodiscard]] std::optional<AddressRange> function_at(Address link) const;

  // Whether a direct call, a named symbol or the entry point goes to `link`.
  [[nodiscard]] bool is_called(Address link) const;

 private:
  void add_code_pointers(const ElfFile& file, const Architecture& arch);
  [[nodiscard]] std::set<Address> switch_cases(const ElfFile& file, const Architecture& arch) const;

  std::vector<AddressRange> areas_;  // code, sorted
  std::vector<Address> starts_;      // sorted, distinct
  std::vector<Address> called_;      // sorted, distinct; not those that only an FDE tells
};

}  // namespace whocall
