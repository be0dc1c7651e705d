#include "symbols/languages/go_names.h"

#include "golang/go_inlining.h"
#include "golang/go_program.h"

namespace whocall {

std::optional<NameList> go_names(const ElfFile& file, std::string& remark) {
  const auto program = find_go_program(file, &remark);
  if (!program) {
    return std::nullopt;
  }
  NameList list;
  for (std::uint64_t i = 0; i < program->table.count(); ++i) {
    const auto function = program->table.function(i);
    if (!function || function->range.empty()) {
      continue;
    }
    Symbol symbol;
    symbol.range = function->range;
    symbol.name = function->name;
    symbol.source = NameSource::pclntab;
    list.symbols.push_back(symbol);
  }
  list.lines = std::make_shared<const GoLines>(program->table, file, program->inline_base);
  return list;
}

}  // namespace whocall
