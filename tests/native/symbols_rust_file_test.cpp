// Whether Rust's compiler made a file: by its note, or by its library's paths beside a text.
#include <doctest/doctest.h>

#include <string_view>

#include "arch/x86/x86_64_facts.h"
#include "symbols/inferred/rust_file.h"
#include "unwind_code.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kTexts = 0x402000;

bool is_rust(std::string_view texts, std::string_view compilers, Address text = kTexts + 4) {
  CodeFile file(kX86_64);
  file.code(kCode, Bytes{0xc3});
  file.section({.name = ".rodata", .address = kTexts, .bytes = Bytes().text(texts)});
  file.section({.name = ".comment", .bytes = Bytes().text(compilers), .flags = 0});
  return is_rust_file(*file.file(), text);
}

TEST_CASE("rust file: the compiler's note, or its library's paths beside the text") {
  constexpr std::string_view kGcc = "GCC: (GNU) 12.2.0";
  CHECK(is_rust("a text", "rustc version 1.95.0 (59807616e 2026-04-14)"));
  CHECK(is_rust("called `unwrap()`library/std/src/thread/mod.rs", kGcc));
  CHECK_FALSE(is_rust("called by rustc, library/std", kGcc));
  CHECK_FALSE(is_rust("library/std/src/thread/mod.rs", kGcc, kCode));  // beside other texts
  CHECK_FALSE(is_rust("library/std/src/thread/mod.rs", kGcc, 0));
}

}  // namespace
}  // namespace whocall::test
