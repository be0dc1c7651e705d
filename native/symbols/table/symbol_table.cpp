#include "symbols/table/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/long_work.h"
#include "object/call_frame_info.h"
#include "symbols/table/code_areas.h"
#include "symbols/table/elf_function_symbols.h"
#include "symbols/table/function_bounds.h"
#include "symbols/table/symbol_order.h"

namespace whocall {
namespace {

void add_fdes(const CallFrameInfo* info, std::vector<AddressRange>& fdes) {
  if (info != nullptr) {
    std::vector<AddressRange> found = info->ranges();
    if (fdes.empty()) {
      fdes.swap(found);
    } else {
      fdes.insert(fdes.end(), found.begin(), found.end());
    }
  }
}

std::vector<AddressRange> fdes_of(const ElfFile& file, const Companions& companions) {
  std::vector<AddressRange> fdes;
  if (file.type() != ET_REL) {  // before relocation, all FDEs start at 0
    add_fdes(eh_frame_of(file), fdes);
    add_fdes(debug_frame_of(file), fdes);
  }
  for (const Companion& companion : companions.files) {
    add_fdes(debug_frame_of(*companion.file), fdes);
  }
  return fdes;
}

SymbolList symbols_of(const std::shared_ptr<const ElfFile>& file, const Companions& companions) {
  SymbolList symbols;
  add_elf_functions(file, symbols);
  for (const Companion& companion : companions.files) {
    add_companion_functions(companion.file, companion.source, symbols);
  }
  for (const NameList& list : companions.lists) {
    symbols.reserve(symbols.size() + list.symbols.size());
    for (const Symbol& symbol : list.symbols) {
      symbols.add(symbol);
    }
  }
  sort_distinct_symbols(symbols);
  return symbols;
}

}  // namespace

std::shared_ptr<const SymbolTable> SymbolTable::from_elf(const std::shared_ptr<const ElfFile>& file,
                                                         const Companions& companions) {
  const LongWork work("Reading the symbols of", file->path());
  SymbolList symbols = symbols_of(file, companions);
  resolve_bounds(symbols, fdes_of(*file, companions), code_parts(*file));
  return std::shared_ptr<const SymbolTable>(new SymbolTable(std::move(symbols)));
}

std::shared_ptr<const SymbolTable> SymbolTable::from_symbols(SymbolList symbols) {
  sort_symbols(symbols);
  return std::shared_ptr<const SymbolTable>(new SymbolTable(std::move(symbols)));
}

SymbolTable::SymbolTable(SymbolList symbols) : symbols_(std::move(symbols)) { symbols_.trim(); }

void SymbolTable::make_index() const {
  std::call_once(index_made_, [this] {
    index_ = SymbolIndex(symbols_);
    is_indexed_.store(true, std::memory_order_release);
  });
}

SymbolRange SymbolTable::aliases(std::uint32_t index) const {
  if (index >= symbols_.size()) {
    return {};
  }
  const auto records = symbols_.records();
  const auto [first, last] = std::equal_range(
      records.begin(), records.end(), records[index],
      [](const auto& left, const auto& right) { return left.start < right.start; });
  return {symbols_, static_cast<std::size_t>(first - records.begin()),
          static_cast<std::size_t>(last - records.begin())};
}

}  // namespace whocall
