#include <doctest/doctest.h>
#include <elf.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "object_elf_images.h"
#include "symbols/table/function_bounds.h"
#include "symbols/table/index_entry.h"
#include "symbols/table/symbol_order.h"
#include "symbols/table/symbol_table.h"

using namespace whocall;
using namespace whocall::testing;

namespace {

Symbol sized(std::string_view name, Address begin, std::uint64_t size) {
  Symbol symbol;
  symbol.name = name;
  symbol.range = {begin, begin + size};
  symbol.source = NameSource::symtab;
  return symbol;
}

Symbol unsized(std::string_view name, Address begin) {
  Symbol symbol = sized(name, begin, 0);
  symbol.exact_end = false;
  return symbol;
}

SymbolList list_of(const std::vector<Symbol>& symbols) { return SymbolList(symbols); }

std::shared_ptr<const SymbolTable> table_of(const std::vector<Symbol>& symbols) {
  return SymbolTable::from_symbols(symbols);
}

std::string name_at(const SymbolTable& table, Address address) {
  const std::uint32_t found = table.find(address);
  return found == SymbolTable::kNone ? "-" : std::string(table.symbols()[found].name);
}

// What the table promises, by looking at every symbol.
std::uint32_t linear_find(const SymbolTable& table, Address address) {
  std::uint32_t best = SymbolTable::kNone;
  const auto symbols = table.symbols();
  for (std::uint32_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].range.contains(address) &&
        (best == SymbolTable::kNone || symbols[i].range.begin > symbols[best].range.begin)) {
      best = i;
    }
  }
  return best;
}

Symbol settled(const SymbolList& symbols, std::string_view name) {
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].name == name) {
      return symbols[i];
    }
  }
  FAIL("there is no such symbol");
  return {};
}

}  // namespace

TEST_CASE("symbol table: nested ranges give way and come back") {
  const auto table = table_of({sized("outer", 0x100, 0x100), sized("inner", 0x140, 0x10),
                               sized("next", 0x200, 0x10), sized("alias", 0x140, 0x20)});
  CHECK(name_at(*table, 0xff) == "-");
  CHECK(name_at(*table, 0x13f) == "outer");
  CHECK(name_at(*table, 0x14f) == "alias");  // of equal rank, so the alphabet decides
  CHECK(name_at(*table, 0x15f) == "alias");
  CHECK(name_at(*table, 0x160) == "outer");
  CHECK(name_at(*table, 0x200) == "next");
  CHECK(name_at(*table, 0x210) == "-");
  CHECK(table->aliases(table->find(0x140)).size() == 2);
  CHECK(table->aliases(SymbolTable::kNone).empty());
}

TEST_CASE("symbol table: empty") {
  const auto table = table_of({});
  CHECK(table->find(0) == SymbolTable::kNone);
  CHECK(table_of({sized("nothing", 5, 0)})->find(5) == SymbolTable::kNone);
}

TEST_CASE("symbol table: the name to show stands first") {
  Symbol local = sized("local", 0x10, 8);
  Symbol weak = sized("weak", 0x10, 8);
  weak.global = weak.weak = true;
  Symbol global = sized("global", 0x10, 8);
  global.global = true;
  Symbol dynamic = sized("dynamic", 0x10, 8);
  dynamic.global = true;
  dynamic.source = NameSource::dynsym;
  Symbol label = unsized("label", 0x10);
  label.global = true;
  const auto table = table_of({label, dynamic, local, weak, global});
  std::vector<std::string> names;
  for (const Symbol& symbol : table->aliases(2)) {
    names.emplace_back(symbol.name);
  }
  CHECK(names == std::vector<std::string>{"global", "weak", "local", "dynamic", "label"});
}

TEST_CASE("symbol table: look-up equals a linear search") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = random() % 60;
    const Address span = Address{1} << (4 + random() % 12);
    std::vector<Symbol> symbols;
    for (std::size_t i = 0; i < count; ++i) {
      symbols.push_back(sized("f", random() % span, random() % (round % 2 == 0 ? 8 : span)));
    }
    if (round % 5 == 0) {
      symbols.push_back(sized("outlier", ~Address{0} - 10, 9));
    } else if (round % 5 == 1) {  // leaves all others to one bucket
      symbols.push_back(sized("outlier", 0xfff00000, 9));
    } else if (round % 5 == 2) {
      symbols.push_back(sized("long", span / 2, Address{1} << (30 + random() % 4)));
    }
    const auto table = table_of(symbols);
    std::vector<Address> addresses;
    for (Address address = 0; address < 2 * span && address < 4096; ++address) {
      addresses.push_back(address);
    }
    for (const Address far : {Address{0x7fffffff}, Address{0xfff00008}, Address{0xffffffff},
                              Address{0x100000000}, ~Address{0} - 5, ~Address{0}}) {
      addresses.push_back(far);
      addresses.push_back(far + span / 2);
    }
    std::vector<std::uint32_t> found(addresses.size());
    table->find(addresses, found);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const std::uint32_t expected = linear_find(*table, addresses[i]);
      REQUIRE(found[i] == expected);
      REQUIRE(table->find(addresses[i]) == expected);
    }
  }
}

namespace {

// Ends the process, far above what the work takes: nothing here is measured.
class Guard {
 public:
  explicit Guard(long processor_seconds) { set(processor_seconds); }
  ~Guard() { set(0); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  Guard(Guard&&) = delete;
  Guard& operator=(Guard&&) = delete;

 private:
  static void set(long seconds) {
    const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);
  }
};

}  // namespace

// With the square of the symbols it would be a minute at the least.
TEST_CASE("symbol table: hostile tables stay fast") {
  constexpr std::size_t kCount = 400000;
  std::vector<Symbol> symbols;
  SUBCASE("all at one start") {
    for (std::size_t i = 0; i < kCount; ++i) {
      symbols.push_back(sized("same", 0x1000, 1 + i % 1000));
    }
  }
  SUBCASE("one far away") {
    for (std::size_t i = 0; i < kCount; ++i) {
      symbols.push_back(sized("near", 0x1000 + i * 2, 2));
    }
    symbols.push_back(sized("far", Address{1} << 60, 8));
  }
  SUBCASE("each inside the one before") {
    for (std::size_t i = 0; i < kCount; ++i) {
      symbols.push_back(sized("nested", i, 2 * (kCount - i)));
    }
  }
  const Guard guard(30);
  const auto table = table_of(symbols);
  std::size_t hits = 0;
  for (Address address = 0; address < kCount; ++address) {
    hits += table->find(address) == SymbolTable::kNone ? 0 : 1;
  }
  CHECK(hits != 0);
}

TEST_CASE("bounds: a symbol without a size ends at whatever comes next") {
  SymbolList symbols = list_of({unsized("before_symbol", 0x100), unsized("before_fde", 0x120),
                                unsized("with_fde", 0x140), unsized("last", 0x180),
                                unsized("at_the_end", 0x200), sized("elsewhere", 0x300, 0x10)});
  sort_symbols(symbols);
  resolve_bounds(symbols, {{0x130, 0x138}, {0x140, 0x150}}, {{0x100, 0x200}, {0x300, 0x310}});
  CHECK(settled(symbols, "before_symbol").range == AddressRange{0x100, 0x120});
  CHECK(settled(symbols, "before_fde").range == AddressRange{0x120, 0x130});
  CHECK(settled(symbols, "with_fde").range == AddressRange{0x140, 0x150});
  CHECK(settled(symbols, "last").range == AddressRange{0x180, 0x200});
  CHECK(settled(symbols, "at_the_end").range.empty());
  const Symbol fde = settled(symbols, "");
  CHECK(fde.range == AddressRange{0x130, 0x138});
  CHECK(fde.source == NameSource::fde);
}

TEST_CASE("bounds: inside a sized function, labels and FDEs take nothing away") {
  SymbolList symbols = list_of({sized("function", 0x100, 0x80), unsized("label", 0x140),
                                unsized("entry", 0x100), sized("small", 0x160, 8)});
  sort_symbols(symbols);
  resolve_bounds(symbols, {{0x100, 0x120}, {0x120, 0x180}, {0x190, 0x1a0}}, {{0x100, 0x200}});
  CHECK(settled(symbols, "label").range.empty());
  CHECK(settled(symbols, "entry").range == AddressRange{0x100, 0x180});
  const auto table = SymbolTable::from_symbols(symbols);
  CHECK(name_at(*table, 0x130) == "function");
  CHECK(name_at(*table, 0x150) == "function");
  CHECK(name_at(*table, 0x164) == "small");
  CHECK(name_at(*table, 0x17f) == "function");
  CHECK(name_at(*table, 0x180) == "-");
  CHECK(name_at(*table, 0x198).empty());
}

// The situation: a library's assembly exports a symbol without a size, and a hidden function with
// an FDE follows. Debuggers that do not look at FDEs show the exported name for both.
TEST_CASE("bounds: an exported label does not name the hidden function behind it") {
  SymbolList symbols = list_of({unsized("exported", 0x1000), sized("other", 0x2000, 0x10)});
  resolve_bounds(symbols, {{0x1010, 0x1050}}, {{0x1000, 0x3000}});
  const auto table = SymbolTable::from_symbols(symbols);
  CHECK(name_at(*table, 0x100f) == "exported");
  CHECK(name_at(*table, 0x1020).empty());
  CHECK(name_at(*table, 0x1050) == "-");
}

TEST_CASE("eight entries at once and one by one are the same") {
  std::mt19937 random(7);
  const std::array<std::uint32_t, 6> edges = {0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff};
  for (int round = 0; round < 2000; ++round) {
    const std::uint32_t mask = round % 2 == 0 ? 7 : 0xffffffff;  // few numbers, or all
    std::array<IndexEntry, kEntriesAtOnce> entries;
    for (IndexEntry& entry : entries) {
      entry.start = static_cast<std::uint32_t>(random()) & mask;
      entry.length = random() & 0x7fffffffU;
      entry.follows = random() & 1U;
    }
    std::ranges::sort(entries, {}, [](const IndexEntry& entry) {
      return static_cast<std::int32_t>(entry.start);
    });
    std::vector<std::uint32_t> wanted(edges.begin(), edges.end());
    for (const IndexEntry& entry : entries) {
      wanted.insert(wanted.end(), {entry.start - 1, entry.start, entry.start + 1});
    }
    for (const std::uint32_t start : wanted) {
      REQUIRE(count_at_or_below(entries.data(), start) == count_one_by_one(entries.data(), start));
    }
  }
}
