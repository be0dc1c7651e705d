#include "runtime/names.h"

#include "runtime/debug_files.h"
#include "runtime/machine.h"

namespace whocall::runtime {
namespace {

// ARM marks what is data, A32 and T32 code by names that begin so.
bool is_mark(const char* name) { return name[0] == '$'; }

bool is_function(const ElfW(Sym) & symbol) {
  const unsigned type = symbol.st_info & 15U;
  return symbol.st_shndx != SHN_UNDEF &&
         (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

// Of several at one place the first global one.
FunctionName look_up(const SymbolTable& table, std::uintptr_t address) {
  const ElfW(Sym)* best = nullptr;
  std::uintptr_t best_begin = 0;
  for (std::size_t i = 0; i < table.count; ++i) {
    const ElfW(Sym)& each = table.symbols[i];
    const std::uintptr_t begin = each.st_value & kCodeMask;
    // One without a size, as assembly has them, says something of its own address only.
    const std::uintptr_t size = each.st_size == 0 ? 1 : each.st_size;
    if (!is_function(each) || address < begin || address - begin >= size ||
        each.st_name >= table.strings_size || is_mark(table.strings + each.st_name)) {
      continue;
    }
    const bool global = best != nullptr && begin == best_begin &&
                        best->st_info >> 4U == STB_LOCAL && each.st_info >> 4U != STB_LOCAL;
    if (best == nullptr || begin > best_begin || global) {
      best = &each;
      best_begin = begin;
    }
  }
  return best == nullptr ? FunctionName{} : FunctionName{table.strings + best->st_name, best_begin};
}

}  // namespace

FunctionName find_name(const Module& module, std::uintptr_t link_address) {
  const KnownFile* const known = known_file(module);
  if (known == nullptr) {
    return {};
  }
  for (const SymbolTable* each : {&known->own, &known->debug, &known->dynamic}) {
    const FunctionName found = look_up(*each, link_address);
    if (found.name != nullptr) {
      return found;
    }
  }
  return {};
}

}  // namespace whocall::runtime
