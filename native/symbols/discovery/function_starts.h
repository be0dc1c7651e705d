// Where functions begin in a file that has no unwind tables and few symbols, and what tells so.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "object/elf_file.h"
#include "symbols/discovery/function_start.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

class FunctionStarts {
 public:
  // Looks at all code of the file once.
  FunctionStarts(const ElfFile& file, const Architecture& arch, const SymbolTable& symbols);
  // Takes what was found out before; ascending.
  FunctionStarts(const ElfFile& file, std::vector<FunctionStart> starts);

  // From the nearest start at or below `link` to the next one, or to the end of the section
  // (segment, where the section headers are gone). Link addresses. A function that nothing tells
  // of counts as part of its predecessor.
  [[nodiscard]] std::optional<AddressRange> function_at(Address link) const;

  // The same of all()[index], without a search for it.
  [[nodiscard]] std::optional<AddressRange> function_of(std::size_t index) const;

  // Whether something is known to enter at `link` as calls do (StartEvidenceSet::called).
  [[nodiscard]] bool is_called(Address link) const { return evidence_at(link).called(); }

  // What tells that a function starts at `link`; empty when nothing does.
  [[nodiscard]] StartEvidenceSet evidence_at(Address link) const;

  // All of them, ascending.
  [[nodiscard]] std::span<const FunctionStart> all() const { return starts_; }

 private:
  [[nodiscard]] std::optional<AddressRange> function_around(Address link, std::size_t index) const;

  std::vector<AddressRange> areas_;  // code, sorted
  std::vector<FunctionStart> starts_;
};

}  // namespace whocall
