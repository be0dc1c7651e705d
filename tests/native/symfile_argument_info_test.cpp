// What debuggers are told of arguments: units of debug info.
#include "symfile/argument_info.h"

#include <doctest/doctest.h>

#include <vector>

#include "arch/architecture_choice.h"

namespace whocall::test {
namespace {

ArgumentInfo written(std::vector<HandedValue> values) {
  using Kind = WrittenParameter::Kind;
  WrittenFunction function{.range = {0x1000, 0x1040}, .name = "f", .file = "program"};
  function.parameters.push_back({.kind = Kind::unsigned_number, .size = 8, .values = values});
  return write_argument_info({function}, *find_architecture("x86_64"));
}

TEST_CASE("argument info: frames of one stack pointer with different values have none") {
  const auto sure = written({{.sp = 0x7000, .value = 3}});
  CHECK(
      written({{.sp = 0x6000, .value = 1}, {.sp = 0x7000, .value = 3}, {.sp = 0x6000, .value = 2}})
          .info == sure.info);
  CHECK(written({{.sp = 0x7000, .value = 3}, {.sp = 0x7000, .value = 3}}).info == sure.info);
  CHECK(written({{.sp = 1, .value = 1}, {.sp = 1, .value = 2}}).info == written({}).info);
}

TEST_CASE("argument info: branches reach the end of the longest list") {
  std::vector<HandedValue> many;
  for (std::uint64_t i = 0; i < 2 * kMostCallsTold; ++i) {
    many.push_back({.sp = i, .value = i});
  }
  const auto info = written(many).info;
  many.resize(kMostCallsTold);
  CHECK(info == written(many).info);
  CHECK(info.size() < 1 << 15);
}

}  // namespace
}  // namespace whocall::test
