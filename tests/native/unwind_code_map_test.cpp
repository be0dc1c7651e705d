// What is known of the bounds of functions.
#include <doctest/doctest.h>

#include "arch/x86/x86_64_facts.h"
#include "unwind_code.h"

namespace whocall::test {
namespace {

constexpr Address kText = 0x401000;
constexpr Address kSized = kText;
constexpr Address kUnsized = kText + 0x40;

Bytes symbol(std::uint32_t name, Address value, std::uint64_t size) {
  return Bytes()
      .u32(name)
      .u8(ELF64_ST_INFO(STB_GLOBAL, STT_FUNC))
      .u8(0)
      .u16(1)
      .u64(value)
      .u64(size);
}

TEST_CASE("code map: a symbol's own size delimits its function as a table does") {
  const Bytes names = Bytes().u8(0).text("sized").text("unsized");
  CodeProcess process(
      kX86_64, CodeFile(kX86_64)
                   .code(kText, Bytes{0xc3}.fill(0x7f, 0x90))
                   .section({.name = ".symtab",
                             .type = SHT_SYMTAB,
                             .bytes = Bytes()
                                          .fill(24, 0)
                                          .append(symbol(1, kSized, 0x40))
                                          .append(symbol(7, kUnsized, 0)),
                             .flags = 0,
                             .entry_size = 24,
                             .link = 3})
                   .section({.name = ".strtab", .type = SHT_STRTAB, .bytes = names, .flags = 0}));
  CHECK_FALSE(process.code.has_exact_bounds(kSized));
  const auto end = [&](Address begin) {
    return process.code.end_of_delimited({begin, begin + 0x100});
  };
  CHECK(end(kSized) == kSized + 0x40);
  CHECK(end(kSized + 0x30) == kSized + 0x40);
  CHECK(process.code.function_at(kUnsized).has_value());
  CHECK(end(kUnsized) == kUnsized);
  CHECK(end(kText - 1) == kText - 1);
}

}  // namespace
}  // namespace whocall::test
