// The function table sorted by address, and the look-up in it: the heart of the old "Who Call Me".
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "object/elf_file.h"
#include "symbols/table/companion.h"
#include "symbols/table/symbol_index.h"
#include "symbols/table/symbol_list.h"

namespace whocall {

// Immutable, so free to be shared by threads. Sorted by start; of several symbols at one start the
// one to show stands first (symbol_order.h says which), the others are its aliases. A symbol takes
// 16 bytes, and 12 to 16 more from the first look-up on: 8 for its entry in the index, 4 to 8 for
// the buckets. The names of files are read when they are asked for.
class SymbolTable {
 public:
  // Index value for "no function covers this address".
  static constexpr std::uint32_t kNone = SymbolIndex::kNone;

  // The functions of an ELF file: .symtab and .dynsym merged, ends settled (size, else the next
  // function start of any source, else the section's end), and functions that only an FDE knows,
  // without a name. PLT slots are added by `plt_symbols` (plt_symbols.h).
  // The symbols and FDEs of `companions` join those of `file`.
  static std::shared_ptr<const SymbolTable> from_elf(const std::shared_ptr<const ElfFile>& file,
                                                     const Companions& companions = {});
  // From any list; sorts it.
  static std::shared_ptr<const SymbolTable> from_symbols(SymbolList symbols);
  // The same, copying the names.
  static std::shared_ptr<const SymbolTable> from_symbols(std::span<const Symbol> symbols) {
    return from_symbols(SymbolList(symbols));
  }

  // The symbols are made as they are looked at: `symbols()[i]` and the loop variable are values.
  // Their names live as long as the table.
  [[nodiscard]] SymbolRange symbols() const { return {symbols_, 0, symbols_.size()}; }
  // What a table with more symbols begins with; names are shared.
  [[nodiscard]] SymbolList branch() const { return symbols_.branch(); }

  // The symbol to show that covers `address` (link address): the one with the nearest start at or
  // below it whose range holds it. A name never reaches past its symbol's end nor across another
  // function's start.
  [[nodiscard]] std::uint32_t find(Address address) const {
    return index().find(symbols_, address);
  }
  // The same for a buffer of addresses; `out` is as long as `addresses`. Order is free.
  void find(std::span<const Address> addresses, std::span<std::uint32_t> out) const {
    index().find(symbols_, addresses, out);
  }
  // All symbols that start where symbol `index` starts.
  [[nodiscard]] SymbolRange aliases(std::uint32_t index) const;

 private:
  explicit SymbolTable(SymbolList symbols);

  const SymbolIndex& index() const {
    if (!is_indexed_.load(std::memory_order_acquire)) {
      make_index();
    }
    return index_;
  }
  void make_index() const;

  SymbolList symbols_;
  // Made at the first look-up: whoever only lists the symbols needs none.
  mutable std::atomic<bool> is_indexed_ = false;
  mutable std::once_flag index_made_;
  mutable SymbolIndex index_;
};

}  // namespace whocall
