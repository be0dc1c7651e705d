// Symbols in 16 bytes each: what a table of a million of them is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "base/address.h"
#include "base/large_blocks.h"
#include "symbols/table/name_store.h"
#include "symbols/table/symbol.h"

namespace whocall {

struct CompactSymbol {
  Address start = 0;
  std::uint32_t name = kNoName;  // where `size` is kLongSize: an index in the list's long symbols
  std::uint32_t size : 24 = 0;   // bytes
  std::uint32_t source : 5 = 0;
  std::uint32_t global : 1 = 0;
  std::uint32_t weak : 1 = 0;
  std::uint32_t exact_end : 1 = 0;
};
static_assert(sizeof(CompactSymbol) == 16);
static_assert(static_cast<unsigned>(NameSource::none) < 32);

using CompactSymbols = std::vector<CompactSymbol, LargeBlocks<CompactSymbol>>;

class SymbolList {
 public:
  SymbolList() = default;
  explicit SymbolList(std::span<const Symbol> symbols);

  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] bool empty() const { return records_.empty(); }
  [[nodiscard]] Symbol operator[](std::size_t index) const { return expand(records_[index]); }
  [[nodiscard]] Symbol expand(const CompactSymbol& record) const {
    Symbol symbol;
    symbol.range = {record.start, record.start + length(record)};
    symbol.name = name(record);
    symbol.source = static_cast<NameSource>(record.source);
    symbol.global = record.global != 0;
    symbol.weak = record.weak != 0;
    symbol.exact_end = record.exact_end != 0;
    return symbol;
  }
  [[nodiscard]] std::string_view name(const CompactSymbol& record) const {
    const NameRef name = record.size == kLongSize ? long_[record.name].name : record.name;
    return name != kNoName ? names_.at(name) : std::string_view();
  }
  [[nodiscard]] Address start(std::size_t index) const { return records_[index].start; }
  [[nodiscard]] std::uint64_t length(std::size_t index) const { return length(records_[index]); }
  [[nodiscard]] AddressRange range(std::size_t index) const {
    return {start(index), start(index) + length(index)};
  }
  [[nodiscard]] bool exact_end(std::size_t index) const { return records_[index].exact_end != 0; }
  [[nodiscard]] NameSource source(std::size_t index) const {
    return static_cast<NameSource>(records_[index].source);
  }

  void reserve(std::size_t count) { records_.reserve(count); }
  // Of `symbol` all but the name, which `names()` holds.
  void add(const Symbol& symbol, NameRef name) { records_.push_back(compact(symbol, name)); }
  // Copies the name.
  void add(const Symbol& symbol) { add(symbol, names_.keep(symbol.name)); }
  void set_length(std::size_t index, std::uint64_t length);
  // Adds functions without a name, known from FDEs, between the symbols; both are sorted by start.
  void merge_unnamed(std::span<const AddressRange> functions);
  // Gives memory back that `reserve` took in vain.
  void trim();

  // For those who put the symbols in order.
  [[nodiscard]] CompactSymbols& records() { return records_; }
  [[nodiscard]] std::span<const CompactSymbol> records() const { return records_; }

  [[nodiscard]] NameStore& names() { return names_; }
  // A list of the same symbols that can be added to; names are shared.
  [[nodiscard]] SymbolList branch() const;

 private:
  static constexpr std::uint32_t kLongSize = 0xffffff;
  struct LongSymbol {
    NameRef name = kNoName;
    std::uint64_t size = 0;
  };
  [[nodiscard]] std::uint64_t length(const CompactSymbol& record) const {
    return record.size != kLongSize ? record.size : long_[record.name].size;
  }
  CompactSymbol compact(const Symbol& symbol, NameRef name) {
    CompactSymbol record;
    record.start = symbol.range.begin;
    record.name = name;
    record.source = static_cast<unsigned>(symbol.source) & 31U;
    record.global = symbol.global ? 1 : 0;
    record.weak = symbol.weak ? 1 : 0;
    record.exact_end = symbol.exact_end ? 1 : 0;
    put_length(record, symbol.range.size());
    return record;
  }
  void put_length(CompactSymbol& record, std::uint64_t length) {
    if (record.size != kLongSize && length < kLongSize) {
      record.size = static_cast<std::uint32_t>(length) & kLongSize;
    } else {
      put_long_length(record, length);
    }
  }
  void put_long_length(CompactSymbol& record, std::uint64_t length);

  CompactSymbols records_;
  std::vector<LongSymbol> long_;  // those of 16 MiB and more
  NameStore names_;
};

// A run of a list's symbols, made when they are looked at. Valid as long as the list.
class SymbolRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Symbol;
    using difference_type = std::ptrdiff_t;
    using pointer = const Symbol*;
    using reference = Symbol;

    Iterator() = default;
    Iterator(const SymbolList* list, std::size_t index) : list_(list), index_(index) {}
    Symbol operator*() const { return (*list_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return {list_, index_++}; }
    friend bool operator==(const Iterator& left, const Iterator& right) {
      return left.index_ == right.index_;
    }

   private:
    const SymbolList* list_ = nullptr;
    std::size_t index_ = 0;
  };

  SymbolRange() = default;
  SymbolRange(const SymbolList& list, std::size_t first, std::size_t last)
      : list_(&list), first_(first), last_(last) {}

  [[nodiscard]] std::size_t size() const { return last_ - first_; }
  [[nodiscard]] bool empty() const { return first_ == last_; }
  [[nodiscard]] Symbol operator[](std::size_t index) const { return (*list_)[first_ + index]; }
  // Of one symbol no more than that, as its name has to be looked for.
  [[nodiscard]] AddressRange range(std::size_t index) const { return list_->range(first_ + index); }
  [[nodiscard]] Address start(std::size_t index) const { return list_->start(first_ + index); }
  [[nodiscard]] NameSource source(std::size_t index) const { return list_->source(first_ + index); }
  [[nodiscard]] bool exact_end(std::size_t index) const { return list_->exact_end(first_ + index); }
  [[nodiscard]] Iterator begin() const { return {list_, first_}; }
  [[nodiscard]] Iterator end() const { return {list_, last_}; }

 private:
  const SymbolList* list_ = nullptr;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

}  // namespace whocall
