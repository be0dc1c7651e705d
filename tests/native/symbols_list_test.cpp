// Symbols in 16 bytes, and what does not fit in them.
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/table/symbol_list.h"
#include "symbols/table/symbol_table.h"

using namespace whocall;
using namespace std::string_literals;

namespace {

Symbol symbol(std::string_view name, Address begin, std::uint64_t size) {
  Symbol made;
  made.name = name;
  made.range = {begin, begin + size};
  made.source = NameSource::symtab;
  return made;
}

ByteView view(std::string_view text) {
  return {std::as_bytes(std::span(text.data(), text.size())), Endian::little};
}

}  // namespace

TEST_CASE("symbol list: all of a symbol comes back, whatever its size and address") {
  const Address high = ~Address{0} - 100;
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xfffffe}, std::uint64_t{0xffffff},
        std::uint64_t{0x1000000}, std::uint64_t{1} << 40}) {
    Symbol weak = symbol("weak", 0x1000, size);
    weak.global = weak.weak = true;
    weak.exact_end = false;
    weak.source = NameSource::call_target;
    SymbolList list;
    list.add(weak);
    list.add(symbol("last", high, 100));
    const Symbol back = list[0];
    CHECK(back.name == "weak");
    CHECK(back.range == weak.range);
    CHECK(back.source == weak.source);
    CHECK((back.global && back.weak && !back.exact_end));
    CHECK(list[1].range == AddressRange{high, high + 100});
    list.set_length(0, 5);
    CHECK(list[0].range == AddressRange{0x1000, 0x1005});
    list.set_length(0, size);
    CHECK(list[0].range == weak.range);
    CHECK(list[0].name == "weak");
  }
}

TEST_CASE("symbol list: functions of 16 MiB and more are found, sorted and come back") {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 33;
  const auto table = SymbolTable::from_symbols(
      std::vector<Symbol>{symbol("behind", 2 * kHuge, 16), symbol("inner", 0x2000, 0x10),
                          symbol("huge", 0x1000, kHuge), symbol("alias", 0x1000, kHuge)});
  const auto name_at = [&](Address address) {
    const std::uint32_t found = table->find(address);
    return found == SymbolTable::kNone ? "-" : std::string(table->symbols()[found].name);
  };
  CHECK(name_at(0x1000) == "huge");
  CHECK(name_at(0x2005) == "inner");
  CHECK(name_at(0x2010) == "huge");
  CHECK(name_at(0x1000 + kHuge - 1) == "huge");
  CHECK(name_at(0x1000 + kHuge) == "-");
  CHECK(name_at(2 * kHuge) == "behind");
  CHECK(table->aliases(table->find(0x1000)).size() == 2);
}

TEST_CASE("name store: tables are referred to, other names copied, and branches stay apart") {
  NameStore store;
  const StringTable table =
      store.add_table(view({"\0first\0memcpy@@V1\0@at\0open", 26}), true, nullptr);
  CHECK(store.at(table.at(1)) == "first");
  CHECK(store.at(table.at(7)) == "memcpy");
  CHECK(store.at(table.at(18)) == "@at");
  CHECK(store.at(table.at(22)).empty());    // no NUL ends it
  CHECK(store.at(table.at(1000)).empty());  // outside
  CHECK(store.at(kNoName).empty());
  const NameRef kept = store.keep("puts@plt");
  NameStore left = store.branch();
  NameStore right = store.branch();
  const NameRef one = left.keep("left");
  const NameRef other = right.keep("right");
  CHECK(left.at(one) == "left");
  CHECK(right.at(other) == "right");
  CHECK(left.at(kept) == "puts@plt");
  CHECK(right.at(table.at(1)) == "first");
  const NameRef cut = store.keep(std::string_view("a\0b", 3));
  CHECK(store.at(cut) == "a");
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "name_" + std::to_string(i);
    CHECK(store.at(store.keep(name)) == name);
  }
  CHECK(store.at(kept) == "puts@plt");
}

TEST_CASE("symbol list: a copied name has any length; one of a file ends within 64 KiB") {
  const std::string name = std::string(std::size_t{200'000}, 'n') + "_last";
  const std::string shorter((std::size_t{1} << 16U) - 1, 's');
  SymbolList list;
  list.add(symbol(name, 0x1000, 16));
  list.add(symbol("after", 0x2000, 16));
  CHECK(list[0].name == name);
  CHECK(list[1].name == "after");
  const std::string strings = "\0"s + name + "\0"s + shorter + "\0"s;
  const StringTable table = list.names().add_table(view(strings), false, nullptr);
  CHECK(list.names().at(table.at(1)).empty());
  CHECK(list.names().at(table.at(static_cast<std::uint32_t>(name.size()) + 2)) == shorter);
  CHECK(SymbolTable::from_symbols(list.branch())->symbols()[0].name == name);
}
