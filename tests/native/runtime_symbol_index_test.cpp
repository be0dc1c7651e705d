#include "runtime/symbol_index.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace whocall::runtime {
namespace {

constexpr char kStrings[] = "\0f\0$d";

ElfW(Sym) symbol_at(std::uintptr_t begin, std::uintptr_t size, unsigned binding = STB_GLOBAL,
                    unsigned type = STT_FUNC, unsigned name = 1) {
  ElfW(Sym) symbol{};
  symbol.st_name = name;
  symbol.st_info = static_cast<unsigned char>((binding << 4U) | type);
  symbol.st_shndx = 1;
  symbol.st_value = begin;
  symbol.st_size = size;
  return symbol;
}

FunctionTable table_of(const std::vector<ElfW(Sym)>& symbols) {
  return function_table({symbols.data(), symbols.size(), kStrings, sizeof kStrings});
}

bool covers(const ElfW(Sym) & symbol, std::uintptr_t address) {
  const std::uintptr_t size = symbol.st_size == 0 ? 1 : symbol.st_size;
  return symbol.st_value <= address && address - symbol.st_value < size;
}

// By looking at each.
const ElfW(Sym) * reference(const std::vector<ElfW(Sym)>& symbols, std::uintptr_t address) {
  const ElfW(Sym)* best = nullptr;
  for (const ElfW(Sym) & each : symbols) {
    if (!covers(each, address)) {
      continue;
    }
    const bool local = best != nullptr && best->st_info >> 4U == STB_LOCAL;
    const bool global = local && each.st_value == best->st_value && each.st_info >> 4U != STB_LOCAL;
    if (best == nullptr || each.st_value > best->st_value || global) {
      best = &each;
    }
  }
  return best;
}

}  // namespace

TEST_CASE("symbol index: what looking at each symbol finds, it finds") {
  std::mt19937 chance(3);
  const auto below = [&](unsigned limit) { return static_cast<std::uintptr_t>(chance() % limit); };
  for (int round = 0; round < 300; ++round) {
    std::vector<ElfW(Sym)> symbols;
    for (std::uintptr_t i = below(40); i > 0; --i) {
      symbols.push_back(
          symbol_at(below(64), below(round % 2 == 0 ? 8 : 48), static_cast<unsigned>(below(2))));
    }
    const FunctionTable table = table_of(symbols);
    for (std::uintptr_t address = 0; address < 128; ++address) {
      CHECK(find_function(table, address) == reference(symbols, address));
    }
  }
}

TEST_CASE("symbol index: what is no function is left out, and no end lies behind all addresses") {
  const std::uintptr_t last = ~std::uintptr_t{0};
  const std::vector<ElfW(Sym)> symbols = {symbol_at(16, 8, STB_GLOBAL, STT_OBJECT),
                                          symbol_at(16, 8, STB_LOCAL, STT_NOTYPE, 3),
                                          symbol_at(last - 7, 64), symbol_at(32, 4)};
  const FunctionTable table = table_of(symbols);
  CHECK(table.count == 2);
  CHECK(find_function(table, 17) == nullptr);
  CHECK(find_function(table, last - 4) == &symbols[2]);
  CHECK(find_function(table, 35) == &symbols[3]);
  CHECK(find_function(table, 36) == nullptr);
  CHECK(find_function(function_table({}), 1) == nullptr);
}

}  // namespace whocall::runtime
