// Lists of names: what each format says, made-up names, and bytes that nobody meant.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "symbols/external/list_base.h"
#include "symbols/external/list_formats.h"
#include "symbols/external/name_rows.h"
#include "symbols/external/symbol_files.h"

using namespace whocall;

namespace {

using Reader = void (*)(std::string_view, ListedNames&);

void read_json(std::string_view text, ListedNames& list) { (void)read_name_json(text, list); }

std::vector<std::string> names_of(Reader reader, std::string_view text) {
  ListedNames list;
  reader(text, list);
  std::vector<std::string> names;
  for (const ListedName& name : list.names) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%llx+%llx ",
                  static_cast<unsigned long long>(name.address),
                  static_cast<unsigned long long>(name.size));
    names.push_back(digits + std::string(name.name));
  }
  return names;
}

using Names = std::vector<std::string>;

constexpr std::string_view kGnuMap =
    "Discarded input sections\n\n .group         0x0000000000000000        0x8 a.o\n"
    ".text           0x0000000000001050      0x11d\n"
    " .text          0x0000000000001050       0x22 Scrt1.o\n"
    "                0x0000000000001050                _start\n"
    " *fill*         0x0000000000001072        0xe \n"
    " .text.depth    0x0000000000001139        0x6 a.o\n"
    " .text.a_very_long_name_indeed\n"
    "                0x000000000000113f        0x7 a.o\n"
    "                0x000000000000113f                ns::f(int, char)\n"
    " .text.startup.main\n                0x0000000000001146       0x26 a.o\n"
    " .text.unlikely.cold 0x0000000000001170       0x26 a.o\n"
    "                0x000000000000116d                etext = .\n"
    "                [!provide]                        PROVIDE (_etext = .)\n";

constexpr std::string_view kLldMap =
    "             VMA              LMA     Size Align Out     In      Symbol\n"
    "            1660             1660      11d    16 .text\n"
    "            1660             1660       22    16         Scrt1.o:(.text)\n"
    "            1660             1660       22     1                 _start\n"
    "            1749             1749       34     1         a.o:(.text)\n"
    "            1749             1749        5     1                 ns::f(int, char)\n";

constexpr std::string_view kNm =
    "\nprog:\n                 U puts@GLIBC_2.2.5\n0000000000001136 T main\n"
    "0000000000001136 0000000000000022 t with size\nmem T 1136 22\n"
    "last  |0000000000001200|   T  |              FUNC|0000000000000022|     |.text\n"
    "operator|(A, B)|0000000000001300|   t  |              FUNC|0000000000000001|     |.text\n"
    "0000000000004010 D data\n0000000000001400 W weak@@V1\nffffffff81000000 T k\t[mod]\n";

constexpr std::string_view kCsv =
    "\"Name\",\"Location\",\"Type\",\"Function Size\"\n"
    "\"a \"\"q\"\", b\",\"00101136\",\"Function\",\"38\"\r\n"
    "lab,00101140,Label,\n\"unended,00101150";

constexpr std::string_view kJson =
    R"({"tool": {"name": "x"}, "functions": [{"name": "a\u0041", "offset": 4406, "size": 8,
        "sub": [{"name": "inner", "addr": "0x10"}]}, {"name": "sym.b", "start": "1200", "end": "0x1210"},
        {"name": "none"}, {"start": 5}, {"name": 7, "start": 5}]})";

constexpr std::string_view kBreakpad =
    "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 prog\nFILE 0 /a b.c\n"
    "INLINE_ORIGIN 3 small\nFUNC m 1136 22 0 ns::f(int)\nINLINE 0 5 0 3 1138 4 1140 2\n"
    "1136 10 7 0\n1146 12 8 0\nPUBLIC 1200 0 g\n";

}  // namespace

TEST_CASE("lists: linker maps") {
  CHECK(names_of(read_gnu_map, kGnuMap) == Names{"1050+0 _start", "1139+6 depth",
                                                 "113f+7 a_very_long_name_indeed",
                                                 "113f+0 ns::f(int, char)", "1146+26 main"});
  CHECK(names_of(read_lld_map, kLldMap) == Names{"1660+22 _start", "1749+5 ns::f(int, char)"});
  ListedNames list;
  read_gnu_map(kGnuMap, list);
  CHECK(list.text == AddressRange{0x1050, 0x116d});
}

TEST_CASE("lists: nm in all its forms") {
  CHECK(names_of(read_nm_text, kNm) == Names{"1136+0 main", "1136+22 with size", "1136+22 mem",
                                             "1200+22 last", "1300+1 operator|(A, B)",
                                             "1400+0 weak", "ffffffff81000000+0 k"});
}

TEST_CASE("lists: tables and JSON") {
  CHECK(names_of(read_name_csv, kCsv) == Names{"101136+26 a \"q\", b"});
  CHECK(names_of(read_name_csv, "Start\tFunction name\tLength\n00001136\tf\t00000026") ==
        Names{"1136+26 f"});
  CHECK(names_of(read_json, kJson) == Names{"10+0 inner", "1136+8 aA", "1200+0 b"});
}

TEST_CASE("lists: Breakpad's lines and inlined calls") {
  ListedNames list;
  read_breakpad(kBreakpad, list);
  CHECK(list.debug_id == breakpad_id("0302010005040706"
                                     "08090a0b0c0d0e0f"
                                     "10111213"));
  REQUIRE(list.lines != nullptr);
  const auto inlined = list.lines->lines_at(0x1139);
  REQUIRE(inlined.size() == 2);
  CHECK(inlined[0].function == "small");
  CHECK(inlined[0].line == 7);
  CHECK(inlined[1].function == "ns::f(int)");
  CHECK(inlined[1].line == 5);
  CHECK(inlined[1].file == "/a b.c");
  CHECK(list.lines->lines_at(0x1150).size() == 1);
  CHECK(list.lines->lines_at(0x1200).empty());
}

TEST_CASE("lists: names that tools make up") {
  for (const char* name :
       {"FUN_00101136", "sub_1136", "fcn.00001136", "thunk_FUN_00101136", "j_puts", "nullsub_1",
        "LAB_00102000", "entry0", "anything_101136", ""}) {
    CHECK_MESSAGE(is_made_up(name, 0x101136), name);
  }
  for (const char* name : {"main", "sub_add", "proc_dead", "f_1", "md5_256", "crc32_1234"}) {
    CHECK_FALSE_MESSAGE(is_made_up(name, 0x101136), name);
  }
}

TEST_CASE("lists: what the user writes") {
  CHECK(parse_symbol_file("list").path == "list");
  const auto full = parse_symbol_file("lib/x.so=dir/list.csv@0x100000");
  CHECK(full.module == "lib/x.so");
  CHECK(full.path == "dir/list.csv");
  CHECK(full.base.base == 0x100000);
  CHECK(full.base.given);
  CHECK(parse_symbol_file("list@-10").base.base == ~Address{0} - 0xf);
  CHECK(parse_symbol_file("user@host.map").path == "user@host.map");
}

TEST_CASE("lists: the base with which names stand on functions") {
  const std::vector<AddressRange> code = {{0x1000, 0x2000}};
  const std::vector<Address> known = {0x1000, 0x1050, 0x1230, 0x1500};
  std::vector<ListedName> names(3);
  names[0].address = 0x101050;
  names[1].address = 0x101230;
  names[2].address = 0x101500;
  CHECK(find_base(names, known, code) == Address{0x100000});
  CHECK(score_base(names, known, code, 0x100000).on_starts == 3);
  names[1].address = 0x101231;
  names[2].address = 0x101501;
  CHECK_FALSE(find_base(names, known, code));
}

TEST_CASE("lists: damaged ones end and do not crash") {
  struct Format {
    Reader reader;
    std::string_view text;
  };
  const std::vector<Format> formats = {
      {read_gnu_map, kGnuMap}, {read_lld_map, kLldMap},
      {read_nm_text, kNm},     {read_name_csv, kCsv},
      {read_json, kJson},      {read_breakpad, kBreakpad},
      {read_symbol_dump, kNm}, {read_symbol_dump, kBreakpad},
  };
  std::mt19937 random(2);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const std::string_view special = std::string_view("\0\n\t\"|,{}[]0f :-\r\xff", 17);
  for (const Format& format : formats) {
    for (int round = 0; round < 2000; ++round) {
      std::string text(format.text);
      for (std::size_t i = 0; i <= below(8); ++i) {
        text[below(text.size())] = special[below(special.size())];
      }
      text.resize(below(4) == 0 ? below(text.size()) : text.size());
      ListedNames list;
      format.reader(text, list);
      CHECK(list.names.size() < 1000);
      if (list.lines != nullptr) {
        (void)list.lines->lines_at(0x1139);
      }
    }
  }
}
