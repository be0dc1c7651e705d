#include "object/bfd/bfd_symbols.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace whocall {
namespace {

// Both tables are read by the same two steps; always ends with a null pointer.
template <typename UpperBound, typename Canonicalize>
std::vector<asymbol*> read_table(UpperBound upper_bound, Canonicalize canonicalize) {
  const long bytes = upper_bound();
  std::vector<asymbol*> symbols(bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof(asymbol*) : 0);
  const long count = symbols.empty() ? 0 : canonicalize(symbols.data());
  symbols.resize(static_cast<std::size_t>(std::max(count, 0L)));
  symbols.push_back(nullptr);
  return symbols;
}

bool is_interesting(const asymbol* symbol) {
  constexpr flagword kOthers = BSF_SECTION_SYM | BSF_FILE | BSF_DEBUGGING | BSF_THREAD_LOCAL;
  return (symbol->flags & kOthers) == 0 && !bfd_is_und_section(symbol->section) &&
         !bfd_is_com_section(symbol->section) && symbol->name != nullptr && *symbol->name != '\0';
}

BfdSymbol convert(const asymbol* symbol, bool dynamic) {
  BfdSymbol result;
  result.name = symbol->name;
  result.address = bfd_asymbol_value(symbol);
  result.is_function =
      (symbol->flags & BSF_OBJECT) == 0 &&
      ((symbol->flags & BSF_FUNCTION) != 0 || (symbol->section->flags & SEC_CODE) != 0);
  result.global = (symbol->flags & (BSF_GLOBAL | BSF_WEAK | BSF_GNU_UNIQUE)) != 0;
  result.weak = (symbol->flags & BSF_WEAK) != 0;
  result.dynamic = dynamic;
  return result;
}

long count_of(const std::vector<asymbol*>& table) { return static_cast<long>(table.size()) - 1; }

}  // namespace

std::vector<asymbol*>& BfdSymbols::statics() {
  if (statics_.empty()) {
    statics_ = read_table([&] { return bfd_get_symtab_upper_bound(file_); },
                          [&](asymbol** out) { return bfd_canonicalize_symtab(file_, out); });
  }
  return statics_;
}

std::vector<asymbol*>& BfdSymbols::dynamics() {
  if (dynamics_.empty()) {
    dynamics_ =
        read_table([&] { return bfd_get_dynamic_symtab_upper_bound(file_); },
                   [&](asymbol** out) { return bfd_canonicalize_dynamic_symtab(file_, out); });
  }
  return dynamics_;
}

std::vector<BfdSymbol> BfdSymbols::defined() {
  std::vector<BfdSymbol> symbols;
  for (const bool dynamic : {false, true}) {
    for (const asymbol* symbol : dynamic ? dynamics() : statics()) {
      if (symbol != nullptr && is_interesting(symbol)) {
        symbols.push_back(convert(symbol, dynamic));
      }
    }
  }
  return symbols;
}

// PLT slots are named after dynamic symbols; only for PowerPC libbfd looks at the others as well.
std::vector<BfdSymbol> BfdSymbols::synthetic() {
  std::vector<asymbol*> none{nullptr};
  auto& others = bfd_get_arch(file_) == bfd_arch_powerpc ? statics() : none;
  asymbol* made = nullptr;
  const long count = bfd_get_synthetic_symtab(file_, count_of(others), others.data(),
                                              count_of(dynamics()), dynamics().data(), &made);
  std::vector<BfdSymbol> symbols;
  for (long i = 0; i < count; ++i) {
    symbols.push_back(convert(&made[i], false));
  }
  std::free(made);  // one block: the names lie behind the symbols
  return symbols;
}

}  // namespace whocall
