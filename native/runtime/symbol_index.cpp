#include "runtime/symbol_index.h"

#include <sys/mman.h>

#include <algorithm>
#include <limits>

#include "runtime/machine.h"

namespace whocall::runtime {
namespace {

// ARM marks what is data, A32 and T32 code by names that begin so.
bool is_mark(const char* name) { return name[0] == '$'; }

bool is_local(const ElfW(Sym) & symbol) { return symbol.st_info >> 4U == STB_LOCAL; }

// Compilers leave labels of their own in some tables (".L26"): local ones, that have no type.
bool is_function(const SymbolTable& table, const ElfW(Sym) & symbol) {
  const unsigned type = symbol.st_info & 15U;
  return symbol.st_shndx != SHN_UNDEF &&
         (type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && !is_local(symbol))) &&
         symbol.st_name < table.strings_size && !is_mark(table.strings + symbol.st_name);
}

std::uintptr_t begin_of(const ElfW(Sym) & symbol) { return symbol.st_value & kCodeMask; }

// One without a size, as assembly has them, says something of its own address only.
std::uintptr_t end_of(const ElfW(Sym) & symbol) {
  const std::uintptr_t begin = begin_of(symbol);
  const std::uintptr_t size = symbol.st_size == 0 ? 1 : symbol.st_size;
  return begin + std::min(size, std::numeric_limits<std::uintptr_t>::max() - begin);
}

bool is_before(const IndexedSymbol& one, const IndexedSymbol& other) {
  return one.begin != other.begin ? one.begin < other.begin : one.number < other.number;
}

}  // namespace

FunctionTable function_table(const SymbolTable& symbols) {
  FunctionTable table{symbols};
  const std::size_t room = std::min<std::size_t>(symbols.count, UINT32_MAX);
  void* const memory = room == 0
                           ? MAP_FAILED
                           : mmap(nullptr, room * sizeof(IndexedSymbol), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return table;
  }
  auto* const index = static_cast<IndexedSymbol*>(memory);
  for (std::size_t i = 0; i < room; ++i) {
    if (is_function(symbols, symbols.symbols[i])) {
      index[table.count++] = {begin_of(symbols.symbols[i]), 0, static_cast<std::uint32_t>(i)};
    }
  }
  std::sort(index, index + table.count, is_before);
  std::uintptr_t reach = 0;
  for (std::size_t i = 0; i < table.count; ++i) {
    reach = std::max(reach, end_of(symbols.symbols[index[i].number]));
    index[i].reach = reach;
  }
  table.index = index;
  return table;
}

const ElfW(Sym) * find_function(const FunctionTable& table, std::uintptr_t address) {
  const IndexedSymbol* const end = table.index + table.count;
  const IndexedSymbol sought{address, 0, UINT32_MAX};
  const ElfW(Sym)* best = nullptr;
  for (const IndexedSymbol* each = std::upper_bound(table.index, end, sought, is_before);
       each != table.index && (each - 1)->reach > address; --each) {
    const IndexedSymbol& one = *(each - 1);
    if (best != nullptr && one.begin != begin_of(*best)) {
      break;
    }
    const ElfW(Sym)& symbol = table.symbols.symbols[one.number];
    // They come last first, so that each global one takes the place of those behind it.
    if (end_of(symbol) > address && (best == nullptr || !is_local(symbol) || is_local(*best))) {
      best = &symbol;
    }
  }
  return best;
}

}  // namespace whocall::runtime
