#include "symbols/table/symbol_list.h"

namespace whocall {

SymbolList::SymbolList(std::span<const Symbol> symbols) {
  reserve(symbols.size());
  for (const Symbol& symbol : symbols) {
    add(symbol);
  }
}

// Either has been long or becomes so.
void SymbolList::put_long_length(CompactSymbol& record, std::uint64_t length) {
  if (record.size == kLongSize) {
    long_[record.name].size = length;
  } else {
    long_.push_back({record.name, length});
    record.name = static_cast<std::uint32_t>(long_.size() - 1);
    record.size = kLongSize;
  }
}

void SymbolList::set_length(std::size_t index, std::uint64_t length) {
  put_length(records_[index], length);
}

// From the back, so that it needs no second list.
void SymbolList::merge_unnamed(std::span<const AddressRange> functions) {
  Symbol symbol;
  symbol.source = NameSource::fde;
  const CompactSymbol unnamed = compact(symbol, kNoName);
  std::size_t from = records_.size();
  std::size_t to = from + functions.size();
  records_.resize(to);
  while (!functions.empty()) {
    if (from != 0 && records_[from - 1].start > functions.back().begin) {
      records_[--to] = records_[--from];
    } else {
      CompactSymbol& record = records_[--to];
      record = unnamed;
      record.start = functions.back().begin;
      put_length(record, functions.back().size());
      functions = functions.first(functions.size() - 1);
    }
  }
}

void SymbolList::trim() {
  if (records_.capacity() / 2 > records_.size()) {
    records_.shrink_to_fit();
  }
}

SymbolList SymbolList::branch() const {
  SymbolList copy;
  copy.records_ = records_;
  copy.long_ = long_;
  copy.names_ = names_.branch();
  return copy;
}

}  // namespace whocall
