#include "symbols/signatures/signature_build.h"

#include <algorithm>
#include <string_view>

#include "object/elf_dynamic.h"
#include "object/mini_debug_info.h"
#include "symbols/signatures/linked_code.h"
#include "symbols/table/symbol_table.h"

namespace whocall {
namespace {

bool is_name(const Symbol& symbol) {
  return !symbol.name.empty() && symbol.source <= NameSource::gnu_debugdata;
}

// By the functions of `code`: the name to show, empty where it has none.
std::vector<std::string_view> names_of(const LinkedCode& code, const SymbolTable& table) {
  std::vector<std::string_view> names(code.ranges.size());
  const SymbolRange symbols = table.symbols();
  std::size_t next = 0;
  for (std::size_t i = 0; i < code.ranges.size(); ++i) {
    const Address start = code.ranges[i].begin;
    for (; next < symbols.size() && symbols.start(next) <= start; ++next) {
      if (symbols.start(next) == start && names[i].empty() && is_name(symbols[next])) {
        names[i] = symbols[next].name;
      }
    }
  }
  return names;
}

}  // namespace

std::size_t add_build(const std::shared_ptr<const ElfFile>& file,
                      const std::shared_ptr<const ElfFile>& debug, SignatureTexts& texts,
                      SignatureSet& set) {
  Companions companions;
  if (debug != nullptr) {
    companions.files.push_back({debug, NameSource::debug_file});
  }
  if (const MiniDebugInfo& packed = mini_debug_info_of(*file); packed.file != nullptr) {
    companions.files.push_back({packed.file, NameSource::gnu_debugdata});
  }
  const auto table = SymbolTable::from_elf(file, companions);
  const LinkedCode code = linked_code_of(*file, *set.arch, *table);
  const auto names = names_of(code, *table);
  const auto named =
      code.functions.size() - static_cast<std::size_t>(std::ranges::count(names, ""));
  if (named == 0) {
    return 0;
  }
  const std::string& path = file->path();
  const auto first = static_cast<std::uint32_t>(set.build_references.size());
  set.builds.push_back({texts.add(std::string_view(path).substr(path.rfind('/') + 1)),
                        texts.add(file->build_id()), texts.add(soname_of(*file)),
                        static_cast<std::uint32_t>(set.build_functions.size()),
                        static_cast<std::uint32_t>(code.functions.size())});
  for (std::size_t i = 0; i < code.functions.size(); ++i) {
    BuildFunction function;
    static_cast<LinkedFunction&>(function) = code.functions[i];
    function.first_reference += first;
    function.name = texts.add(names[i]);
    set.build_functions.push_back(function);
  }
  set.build_references.insert(set.build_references.end(), code.references.begin(),
                              code.references.end());
  return named;
}

}  // namespace whocall
