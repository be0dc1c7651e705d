#include "symfile/function_symbols.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "symbols/found_functions.h"
#include "symbols/table/function_label.h"

namespace whocall {
namespace {

bool debugger_reads(NameSource source, SymbolChoice choice) {
  switch (source) {
    case NameSource::symtab:
    case NameSource::dynsym:
    case NameSource::gnu_debugdata:
    case NameSource::plt:
      return !choice.own_names;
    case NameSource::debug_file:
      return !choice.debug_names;
    default:
      return false;
  }
}

// Debuggers name the slots of linkage tables by themselves.
class LinkageTables {
 public:
  explicit LinkageTables(const ElfFile& file) : file_(file) {}

  bool contain(Address link) {
    if (last_ == nullptr || !last_->range().contains(link)) {
      last_ = file_.section_at(link);
      is_plt_ = last_ != nullptr && last_->name.starts_with(".plt");
    }
    return is_plt_;
  }

 private:
  const ElfFile& file_;
  const ElfSection* last_ = nullptr;  // functions come by address
  bool is_plt_ = false;
};

class Chooser {
 public:
  Chooser(FileSymbols& names, SymbolChoice choice)
      : choice_(choice), names_(names.inferred()), inferred_(*names_), linkage_(names.file()) {}

  void consider(const Symbol& symbol) {
    if (debugger_reads(symbol.source, choice_)) {
      known_ = symbol.range.begin;
      return;
    }
    const InferredName* inferred = symbol.name.empty() ? inferred_.at(symbol.range.begin) : nullptr;
    const std::string_view name = inferred != nullptr ? inferred->name : symbol.name;
    const bool repeated = name.empty() && symbol.range.begin == known_;
    const bool slot = !choice_.own_names && linkage_.contain(symbol.range.begin);
    if (symbol.range.empty() || repeated || slot) {
      return;
    }
    if (name.empty()) {
      const FunctionLabel label(symbol.range.begin);
      chosen.symbols.add({symbol.range, label.text(), symbol.global});
      return;
    }
    const NameSource source = inferred != nullptr ? inferred->source : symbol.source;
    const bool marked = is_inferred(source) && source != NameSource::entry;
    chosen.symbols.add({symbol.range, name, symbol.global}, marked ? "?" : "");
    ++chosen.named;
  }

  FunctionSymbols chosen;

 private:
  SymbolChoice choice_;
  std::shared_ptr<const InferredNames> names_;
  InferredNameCursor inferred_;
  LinkageTables linkage_;
  Address known_ = ~Address{0};  // where a symbol stands that the debugger reads
};

}  // namespace

FunctionSymbols function_symbols(FileSymbols& names, SymbolChoice choice) {
  const FunctionStarts* starts = names.starts();
  if (starts == nullptr) {
    return {};
  }
  const std::shared_ptr<const SymbolTable> table = names.table_with_plt();
  Chooser chooser(names, choice);
  chooser.chosen.symbols.reserve(std::max(table->symbols().size(), starts->all().size()));
  for_each_found_function(
      *table, *starts, [&](const Symbol& symbol, StartEvidenceSet) { chooser.consider(symbol); });
  return std::move(chooser.chosen);
}

}  // namespace whocall
