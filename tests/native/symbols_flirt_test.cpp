// FLIRT by hand: its check sum, lines of text, a small tree, and which patterns code begins with.
#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "base/text_lines.h"
#include "base_bytes.h"
#include "symbols/flirt/flirt_file.h"
#include "symbols/flirt/flirt_index.h"

namespace whocall::test {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

constexpr std::string_view kLine =
    "5589E5E8........5DC3............................................ 02 BEEF 0100 "
    ":0010@ inner :0000 outer :-0004 before ^0004 callee ^-0002 none AB..CD";

TEST_CASE("flirt: the check sum is CRC-16 of X.25, its bytes swapped") {
  CHECK(flirt_sum(bytes_of("123456789")) == 0x6e90);  // the catalogues' check value is 0x906e
  CHECK(flirt_sum({}) == 0);
}

TEST_CASE("flirt: a line of text") {
  REQUIRE(is_flirt_text(bytes_of(kLine)));
  const FlirtSet set = read_flirt_text(kLine, "file");
  REQUIRE(set.modules.size() == 1);
  const FlirtPattern& pattern = set.patterns[0];
  CHECK(pattern.size == 32);
  CHECK(pattern.varies == 0xfffffcf0);
  const FlirtModule& module = set.modules[0];
  CHECK(module.size == 0x100);
  CHECK(module.checked == 32);
  CHECK(module.sum_size == 2);
  CHECK(module.sum == 0xbeef);
  REQUIRE(module.names == 2);
  CHECK(set.text(set.names[0].text) == "outer");
  CHECK(set.names[1].offset == 0x10);
  CHECK(set.names[1].is_local);
  REQUIRE(module.references == 1);
  CHECK(set.text(set.references[0].text) == "callee");
  REQUIRE(module.runs == 2);
  CHECK(set.runs[1].offset == 32 + 2 + 2);
}

TEST_CASE("flirt: lines that make no sense, remarks, and what stands behind the end") {
  const std::string text = "; a remark\n\n" + std::string(kLine) + "\nnonsense\n55 0 0\n---\n" +
                           std::string(kLine) + "\n";
  CHECK(is_flirt_text(bytes_of(text)));
  CHECK(read_flirt_text(text, "file").modules.size() == 1);
  for (const std::string_view other : {"whocall signatures\n", "55", "5589E5E8 02 BEEF 0100", ""}) {
    CHECK_FALSE(is_flirt_text(bytes_of(other)));
  }
}

// The head of a tree of version 9, not packed, of a library "lib".
Bytes tree_head() {
  Bytes tree{'I', 'D', 'A', 'S', 'G', 'N', 9, 0};
  tree.u32(0).u16(0).u16(0).u16(0).u16(0).u16(0);
  for (int i = 0; i < 12; ++i) {
    tree.u8(0);
  }
  tree.u8(3).u16(0).u32(0).u16(32);
  return tree.u8('l').u8('i').u8('b');
}

TEST_CASE("flirt: a tree") {
  Bytes tree = tree_head();
  // One node, of 4 bytes, the third of which varies; two modules of one check sum.
  for (const unsigned byte : {1, 4, 2, 0x55, 0x48, 0x90, 0, 5, 0xbe, 0xef, 0x40, 0}) {
    tree.u8(byte);
  }
  for (const char letter : std::string_view("one\x01\x10\x02two\x0e")) {
    tree.u8(static_cast<unsigned char>(letter));
  }
  for (const unsigned byte : {1, 7, 0xcc, 1, 9, 1, 0x72, 0x50, 0}) {  // "r"
    tree.u8(byte);
  }
  for (const char letter : std::string_view("\x08lost")) {  // a name that others have, too
    tree.u8(static_cast<unsigned char>(letter));
  }
  const std::vector<std::byte> whole = tree.u8(0).get();
  REQUIRE(is_flirt_tree(whole));
  const FlirtSet set = read_flirt_tree(whole, "file");
  CHECK(set.library == "lib");
  REQUIRE(set.patterns.size() == 1);
  CHECK(set.patterns[0].varies == 4);
  CHECK(set.patterns[0].modules == 2);
  REQUIRE(set.modules.size() == 2);
  CHECK(set.modules[0].size == 0x40);
  REQUIRE(set.modules[0].names == 2);
  CHECK(set.text(set.names[1].text) == "two");
  CHECK(set.names[1].is_local);
  REQUIRE(set.runs.size() == 1);
  CHECK(set.runs[0].offset == 32 + 5 + 7);
  REQUIRE(set.references.size() == 1);
  CHECK(set.text(set.references[0].text) == "r");
  REQUIRE(set.modules[1].names == 1);  // it is there, and it is not told what it is called
  CHECK_FALSE(set.names_of(set.modules[1])[0].is_told());
  for (std::size_t size = 6; size < whole.size(); ++size) {
    CHECK_THROWS_AS((void)read_flirt_tree(std::span(whole).first(size), "file"), Error);
  }
}

TEST_CASE("flirt: nodes without bytes and patterns that never end are refused") {
  Bytes empty = tree_head();
  const std::vector<std::byte> none = empty.u8(1).u8(0).u8(0).u8(0).get();
  CHECK_THROWS_AS((void)read_flirt_tree(none, "file"), Error);
  Bytes deep = tree_head();
  for (int i = 0; i < 1000; ++i) {
    deep.u8(1).u8(1).u8(0).u8(0x90);
  }
  CHECK_THROWS_AS((void)read_flirt_tree(deep.get(), "file"), Error);
}

TEST_CASE("flirt: all patterns that fit are found, and no other") {
  std::string text;
  for (unsigned i = 0; i < 256; ++i) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const std::string byte{kDigits[i / 16], kDigits[i % 16]};
    text += "55" + byte + "90.. 00 0000 0010 :0000 exact" + byte + "\n";
    text += "55.." + byte + "C3 00 0000 0010 :0000 any" + byte + "\n";
  }
  text += "55 00 0000 0010 :0000 short\n.... 00 0000 0010 :0000 nothing\n";
  const FlirtIndex index(read_flirt_text(text, "file"));
  const auto names = [&](const Bytes& code) {
    std::vector<std::uint32_t> found;
    std::uint64_t work = 0;
    index.find(code.get(), found, work);
    std::string said;
    for (const std::uint32_t each : found) {
      const FlirtModule& module = index.set().modules[index.set().patterns[each].first_module];
      said += std::string(index.set().text(index.set().names_of(module)[0].text)) + " ";
    }
    return said;
  };
  CHECK(names({0x55, 0x42, 0x90, 0xc3}) == "short any90 exact42 ");
  CHECK(names({0x55, 0x42, 0x91, 0xc3}) == "short any91 ");
  CHECK(names({0x55, 0x42, 0x90}) == "short ");
  CHECK(names({0x56, 0x42, 0x90, 0xc3}).empty());
}

}  // namespace
}  // namespace whocall::test
