#include "symbols/found_functions.h"

#include <utility>

#include "base/interrupt.h"

namespace whocall {

std::string_view source_of(const FoundFunction& function) {
  if (function.symbol.source == NameSource::call_target) {
    if (const auto evidence = function.evidence.list(); !evidence.empty()) {
      return to_string(evidence.front());
    }
  }
  return to_string(function.symbol.source);
}

FoundFunctions::FoundFunctions(std::shared_ptr<const SymbolTable> table)
    : table_(std::move(table)) {
  const SymbolRange symbols = table_->symbols();
  rows_.reserve(symbols.size());
  for (std::uint32_t i = 0; i < symbols.size(); ++i) {
    add(i, symbols.range(i), evidence_of(symbols.source(i)));
  }
}

FoundFunctions::FoundFunctions(std::shared_ptr<const SymbolTable> table,
                               const FunctionStarts& starts,
                               std::shared_ptr<const InferredNames> inferred)
    : table_(std::move(table)), inferred_(std::move(inferred)) {
  std::size_t count = 0;  // a vector that grows holds half as much again for a moment
  for_each_found_range(*table_, starts, [&](std::uint32_t, const AddressRange&, StartEvidenceSet) {
    check_interrupt_at(count++, kManyEntries);
  });
  rows_.reserve(count);
  for_each_found_range(*table_, starts,
                       [this](std::uint32_t symbol, const AddressRange& range,
                              StartEvidenceSet evidence) { add(symbol, range, evidence); });
}

void FoundFunctions::add(std::uint32_t symbol, const AddressRange& range,
                         StartEvidenceSet evidence) {
  check_interrupt_at(rows_.size(), kManyEntries);
  Row row;
  row.end = range.end;
  row.symbol = symbol;
  row.evidence = evidence.bits() & 0x7fffffffU;
  if (symbol == SymbolTable::kNone) {
    row.symbol = static_cast<std::uint32_t>(bare_.size());
    row.is_bare = 1;
    bare_.push_back(range.begin);
  }
  rows_.push_back(row);
}

FoundFunction FoundFunctions::operator[](std::size_t index) const {
  const Row& row = rows_[index];
  FoundFunction function;
  if (row.is_bare != 0) {
    function.symbol = function_without_symbol({bare_[row.symbol], row.end});
  } else {
    function.symbol = table_->symbols()[row.symbol];
    function.symbol.range.end = row.end;
  }
  function.evidence = StartEvidenceSet::of_bits(row.evidence);
  if (function.symbol.name.empty() && inferred_ != nullptr) {
    if (const InferredName* name = inferred_->at(function.symbol.range.begin)) {
      function.symbol.name = name->name;
      function.symbol.source = name->source;
    }
  }
  return function;
}

}  // namespace whocall
