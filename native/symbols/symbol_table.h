// The function table sorted by address, and the look-up in it: the heart of the old "Who Call Me".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "object/elf_file.h"
#include "symbols/companions.h"
#include "symbols/symbol.h"

namespace whocall {

// Immutable, so free to be shared by threads. Sorted by start; of several symbols at one start the
// one to show stands first (symbol_order.h says which), the others are its aliases.
class SymbolTable {
 public:
  // Index value for "no function covers this address".
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // The functions of an ELF file: .symtab and .dynsym merged, ends settled (size, else the next
  // function start of any source, else the section's end), and functions that only an FDE knows,
  // without a name. PLT slots are added by `plt_symbols` (plt_symbols.h).
  // The symbols and FDEs of `companions` join those of `file`.
  static std::shared_ptr<const SymbolTable> from_elf(std::shared_ptr<const ElfFile> file,
                                                     Companions companions = {});
  // From any list; sorts it. Strings that names point to are kept alive by `owner`.
  static std::shared_ptr<const SymbolTable> from_symbols(std::vector<Symbol> symbols,
                                                         std::shared_ptr<const void> owner);

  [[nodiscard]] std::span<const Symbol> symbols() const { return symbols_; }

  // The symbol to show that covers `address` (link address): the one with the nearest start at or
  // below it whose range holds it. A name never reaches past its symbol's end nor across another
  // function's start.
  [[nodiscard]] std::uint32_t find(Address address) const;
  // The same for a buffer of addresses; `out` is as long as `addresses`. Order is free.
  void find(std::span<const Address> addresses, std::span<std::uint32_t> out) const;
  // The index range [first, last) of all symbols that start where symbol `index` starts.
  [[nodiscard]] std::span<const Symbol> aliases(std::uint32_t index) const;

 private:
  SymbolTable(std::vector<Symbol> symbols, std::shared_ptr<const void> owner);
  void build_index();

  [[nodiscard]] std::uint32_t last_start_in(std::uint32_t first, std::uint32_t last,
                                            Address address) const;

  std::vector<Symbol> symbols_;
  std::shared_ptr<const void> owner_;
  // The table cut into disjoint pieces: from each start to the next, one symbol (or none) answers.
  std::vector<Address> starts_;         // ascending, distinct; the last one is a gap
  std::vector<std::uint32_t> answers_;  // for each of `starts_`, an index in `symbols_` or kNone
  // Bucket directory: starts_[buckets_[b]] is the first with (start - starts_[0]) >> shift >= b.
  std::vector<std::uint32_t> buckets_;
  unsigned bucket_shift_ = 0;
};

}  // namespace whocall
