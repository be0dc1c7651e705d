#include "symfile/function_symbols.h"

#include "symbols/found_functions.h"

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
bool in_linkage_table(const ElfFile& file, Address link) {
  const ElfSection* section = file.section_at(link);
  return section != nullptr && section->name.starts_with(".plt");
}

}  // namespace

FunctionSymbols function_symbols(FileSymbols& names, SymbolChoice choice) {
  FunctionSymbols result;
  result.table = names.table_with_plt();
  result.inferred = names.inferred();
  std::vector<FoundFunction> functions;
  if (const FunctionStarts* starts = names.starts()) {
    functions = found_functions(*result.table, *starts);
    add_inferred_names(*result.inferred, functions);
  }
  result.symbols.reserve(functions.size());
  Address known = ~Address{0};  // where a symbol stands that the debugger reads
  for (const FoundFunction& function : functions) {
    const Symbol& symbol = function.symbol;
    if (debugger_reads(symbol.source, choice)) {
      known = symbol.range.begin;
      continue;
    }
    const bool repeated = symbol.name.empty() && symbol.range.begin == known;
    const bool slot = !choice.own_names && in_linkage_table(names.file(), symbol.range.begin);
    if (symbol.range.empty() || repeated || slot) {
      continue;
    }
    std::string_view name = symbol.name;
    if (name.empty()) {
      name = result.made.emplace_back(unnamed_function(symbol.range.begin));
    } else {
      ++result.named;
      if (is_inferred(symbol.source) && symbol.source != NameSource::entry) {
        name = result.made.emplace_back(std::string(name) + "?");
      }
    }
    result.symbols.push_back({symbol.range, name, symbol.global});
  }
  return result;
}

}  // namespace whocall
