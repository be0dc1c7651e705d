// The index of ARM's exception tables: right, in both byte orders, cut off, and hostile.
#include "object/exidx.h"

#include <doctest/doctest.h>

#include <random>

#include "arch/arm/facts.h"
#include "arch/x86/i386_facts.h"
#include "exidx_tables.h"
#include "unwind_code.h"

namespace whocall::test {
namespace {

using Kind = ExidxEntry::Kind;
using Instructions = std::vector<std::uint8_t>;

constexpr AddressRange kCode{0x8000, 0x9000};
constexpr Address kIndex = 0xa000;
constexpr Address kApart = 0xb000;

Exidx index_of(const ExceptionTable& table, const Bytes& apart = {},
               Endian endian = Endian::little) {
  const auto bytes_at = [view = apart.view(endian)](Address address) {
    return address < kApart ? ByteView() : view.from(address - kApart);
  };
  return {{table.bytes().view(endian), kIndex}, bytes_at, {kCode}};
}

TEST_CASE("exception index: what stands in the index") {
  ExceptionTable table(kIndex);
  table.entry(0x8000, 0x8001a8b0).entry(0x8010, ExceptionTable::kCannotUnwind);
  table.entry(0x8021, 0x80b0b0b0).entry(0x8030, 0x81000000);  // bit 0: T32; no routine 1 here
  const Exidx index = index_of(table);
  CHECK(index.size() == 4);
  const auto first = index.find(0x800f);
  REQUIRE(first.has_value());
  CHECK(first->range == AddressRange{0x8000, 0x8010});
  CHECK(first->kind == Kind::inlined);
  CHECK(first->instructions == Instructions{0x01, 0xa8, 0xb0});
  CHECK(index.find(0x8010)->kind == Kind::cannot_unwind);
  CHECK(index.find(0x8010)->instructions.empty());
  CHECK(index.find(0x8020)->range == AddressRange{0x8020, 0x8030});
  CHECK(index.find(0x8fff)->range == AddressRange{0x8030, 0x9000});  // to the end of the code
  CHECK(index.find(0x8fff)->kind == Kind::damaged);
  CHECK_FALSE(index.find(0x7fff).has_value());
  CHECK_FALSE(index.find(0x9000).has_value());
}

TEST_CASE("exception index: what stands apart, in both byte orders") {
  for (const Endian endian : {Endian::little, Endian::big}) {
    Bytes apart(endian);
    apart.u32(0x80112233);                                                   // routine 0
    apart.u32(0x81011122).u32(0x33445566);                                   // routine 1
    apart.u32(0x82001122);                                                   // routine 2
    apart.u32(prel31(0x8000, kApart + 16)).u32(0x01112233).u32(0x44556677);  // a language's
    ExceptionTable table(kIndex, endian);
    table.entry_apart(0x8000, kApart).entry_apart(0x8010, kApart + 4);
    table.entry_apart(0x8020, kApart + 12).entry_apart(0x8030, kApart + 16);
    const Exidx index = index_of(table, apart, endian);
    REQUIRE(index.size() == 4);
    CHECK(index.at(0).kind == Kind::apart);
    CHECK(index.at(0).instructions == Instructions{0x11, 0x22, 0x33});
    CHECK(index.at(1).instructions == Instructions{0x11, 0x22, 0x33, 0x44, 0x55, 0x66});
    CHECK(index.at(2).instructions == Instructions{0x11, 0x22});
    CHECK(index.at(3).instructions == Instructions{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77});
  }
}

TEST_CASE("exception index: an entry that cannot be unwound tells of no start") {
  ExceptionTable table(kIndex);
  table.entry(0x8000, 0x80b0b0b0).entry(0x8012, ExceptionTable::kCannotUnwind);
  table.entry(0x8020, 0x80b0b0b0).entry(0x8020, 0x80a8b0b0);
  CHECK(index_of(table).function_starts() == std::vector<Address>{0x8000, 0x8020});
}

TEST_CASE("exception index: out of order, out of the code, cut off") {
  ExceptionTable table(kIndex);
  table.entry(0x8020, 0x80b0b0b0).entry(0x8000, 0x8001a8b0).entry(0x20000, 0x80b0b0b0);
  table.entry_apart(0x8010, kApart + 8).entry_apart(0x8030, kIndex - 0x1000);
  Bytes apart;
  apart.u32(0x81ff1122).u32(0).u32(0x81021122).u32(0x33445566);  // more words than there are
  const Exidx index = index_of(table, apart);
  CHECK(index.function_starts() == std::vector<Address>{0x8000, 0x8010, 0x8020, 0x8030});
  CHECK(index.find(0x8008)->instructions == Instructions{0x01, 0xa8, 0xb0});
  CHECK(index.find(0x8018)->kind == Kind::damaged);
  CHECK(index.find(0x8018)->instructions.empty());
  CHECK(index.find(0x8028)->range == AddressRange{0x8020, 0x8030});
  CHECK(index.find(0x8038)->kind == Kind::damaged);
  for (std::uint64_t size = 0; size <= table.bytes().size(); ++size) {
    const Exidx cut({*table.bytes().view().slice(0, size), kIndex},
                    [](Address) { return ByteView(); }, {kCode});
    CHECK(cut.size() <= size / 8);
  }
}

TEST_CASE("exception index: random bytes lead nowhere else") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Bytes bytes;
    for (int i = 0; i < 64; ++i) {  // near the code, as often as not
      bytes.u32(random() % 2 != 0 ? prel31(0x8000 + random() % 0x1000, kIndex + bytes.size())
                                  : random());
    }
    const Exidx index({bytes.view(), kIndex},
                      [&](Address at) { return bytes.view().from(at - kIndex); }, {kCode});
    for (Address at = 0x7ff0; at < 0x9010; at += 5) {
      const auto entry = index.find(at);
      CHECK((!entry || (entry->range.contains(at) && kCode.contains(at))));
    }
  }
}

TEST_CASE("exception index: files of ARM have one, by section or program header") {
  const Bytes index = ExceptionTable(0x402000).entry(0x401000, 0x80b0b0b0).bytes();
  const auto file = [&](const Architecture& arch) {
    return CodeFile(arch)
        .code(0x401000, Bytes().fill(0x100, 0))
        .section({.name = ".ARM.exidx", .type = 0x70000001, .address = 0x402000, .bytes = index})
        .file();
  };
  const auto of_arm = file(kArm);
  const Exidx* found = exception_index_of(*of_arm);
  REQUIRE(found != nullptr);
  CHECK(found->function_starts() == std::vector<Address>{0x401000});
  CHECK(exception_index_of(*file(kI386)) == nullptr);
}

}  // namespace
}  // namespace whocall::test
