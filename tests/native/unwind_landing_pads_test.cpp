// Exceptions enter functions in the middle: by function, and by where they land.
#include <doctest/doctest.h>

#include "arch/x86/x86_64_facts.h"
#include "unwind/analysis/function_analyser.h"
#include "unwind/code/landing_pads.h"
#include "unwind_exidx.h"

namespace whocall::test {
namespace {

constexpr AddressRange kCatches{0x401000, 0x401040};
constexpr AddressRange kPlain{0x401040, 0x401080};
constexpr AddressRange kCold{0x401080, 0x4010c0};

// kCatches: sub $24,%rsp; call kPlain; add $24,%rsp; ret; what it throws lands in kCold.
CodeFile throwing() {
  Bytes code{0x48, 0x83, 0xec, 0x18, 0xe8};
  code.u32(kPlain.begin - (kCatches.begin + 9)).append(Bytes{0x48, 0x83, 0xc4, 0x18, 0xc3});
  code.fill(kPlain.begin - kCatches.begin - code.size(), 0xcc).append(Bytes{0xc3});
  code.fill(kCold.begin - kCatches.begin - code.size(), 0xcc);
  code.append(Bytes{0x31, 0xc0, 0x0f, 0x0b});  // xor %eax,%eax; ud2
  code.fill(kCold.end - kCatches.begin - code.size(), 0xcc);
  ExceptionFrames frames;
  frames.function(kCatches, 0x409000);
  frames.function(kPlain, 0);
  frames.function(kCold, 0);
  return CodeFile(kX86_64)
      .code(kCatches.begin, code)
      .section(frames.section())
      .section({.name = ".gcc_except_table",
                .address = 0x409000,
                .bytes = exception_table({{4, 5, kCold.begin - kCatches.begin}})});
}

TEST_CASE("landing pads: of a function, and the functions that land in a range") {
  const CodeProcess process(kX86_64, throwing());
  LandingPads pads(*process.image);
  const auto found = pads.of_function(kCatches.begin);
  REQUIRE(found.size() == 1);
  CHECK(found[0].calls == AddressRange{0x401004, 0x401009});
  CHECK(found[0].address == kCold.begin);
  CHECK(pads.of_function(kPlain.begin).empty());
  CHECK(pads.of_function(0x12345000).empty());
  CHECK(pads.functions_landing_in(kCold) == std::vector{kCatches});
  CHECK(pads.functions_landing_in(kPlain).empty());
  CHECK(pads.functions_landing_in({kCold.begin + 1, kCold.end}).empty());
  CHECK(pads.functions_landing_in({0x12345000, 0x12346000}).empty());
}

TEST_CASE("landing pads: a bias moves all addresses") {
  constexpr Address kBias = 0x10000000;
  CodeProcess process(kX86_64, throwing());
  Module& module = process.image->modules.front();
  module.bias = kBias;
  module.range = {module.range.begin + kBias, module.range.end + kBias};
  LandingPads pads(*process.image);
  const auto found = pads.of_function(kCatches.begin + kBias);
  REQUIRE(found.size() == 1);
  CHECK(found[0].address == kCold.begin + kBias);
  CHECK(pads.of_function(kCatches.begin).empty());
}

TEST_CASE("landing pads: the part that catches runs as deep as the call that throws") {
  CodeProcess process(kX86_64, throwing());
  FunctionAnalyser analyser(*process.image, process.code);
  const UnwindRow* row = analyser.row_at(kCold.begin);
  REQUIRE(row != nullptr);
  CHECK(to_string(row->cfa, kX86_64) == "rsp+32");
}

TEST_CASE("landing pads: a file without unwind tables has none") {
  const CodeProcess process(kX86_64, CodeFile(kX86_64).code(0x401000, {0xc3}));
  LandingPads pads(*process.image);
  CHECK(pads.of_function(0x401000).empty());
  CHECK(pads.functions_landing_in({0x401000, 0x401001}).empty());
}

}  // namespace
}  // namespace whocall::test
