// Instructions with their operands.
#include "report/form/operations.h"

#include <doctest/doctest.h>

#include <vector>

#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kStart = 0x401000;

std::vector<Operation> operations(const char* arch, std::initializer_list<int> bytes,
                                  std::size_t most = 100) {
  TestProcess process(*find_architecture(arch));
  std::vector<std::byte> code;
  for (const int byte : bytes) {
    code.push_back(static_cast<std::byte>(byte));
  }
  process.map(kStart, code, "r-x");
  const auto image = process.image();
  return list_operations(*image, kStart, code.size(), most);
}

TEST_CASE("operations: operands in memory, and where they are") {
  // mov dword ptr [rax + rcx*4 + 8], 5; lea rdx, [rip + 16]; mov fs:[0], eax
  const auto found =
      operations("x86_64", {0xc7, 0x44, 0x88, 0x08, 5,    0,    0,    0, 0x48, 0x8d, 0x15, 16,
                            0,    0,    0,    0x64, 0x89, 0x04, 0x25, 0, 0,    0,    0});
  REQUIRE(found.size() == 3);
  CHECK(found[0].mnemonic == "mov");
  REQUIRE(found[0].operands.size() == 2);
  const Operand& memory = found[0].operands[0];
  CHECK(memory.kind == Operand::Kind::memory);
  CHECK(memory.reg == "rax");
  CHECK(memory.index == "rcx");
  CHECK(memory.scale == 4);
  CHECK(memory.value == 8);
  CHECK(memory.size == 4);
  CHECK(found[0].operands[1].kind == Operand::Kind::immediate);
  CHECK(found[0].operands[1].value == 5);
  CHECK(found[1].operands[1].reg == "rip");
  CHECK(found[2].operands[0].segment);
  CHECK_FALSE(memory.segment);
}

TEST_CASE("operations: where the flow goes") {
  // call +0; jmp +0; ret; nop
  const auto found = operations("x86_64", {0xe8, 0, 0, 0, 0, 0xeb, 0, 0xc3, 0x90});
  REQUIRE(found.size() == 4);
  CHECK(found[0].flow == Operation::Flow::call);
  CHECK(found[0].operands[0].value == kStart + 5);
  CHECK(found[1].flow == Operation::Flow::jump);
  CHECK(found[2].flow == Operation::Flow::leave);
  CHECK(found[3].flow == Operation::Flow::next);
  CHECK(found[3].address == kStart + 8);
}

TEST_CASE("operations: what is no instruction is passed over, and no more than asked for") {
  // (no instruction in 64-bit code); ret; nop
  const auto found = operations("x86_64", {0x06, 0xc3, 0x90}, 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].address == kStart + 1);
}

TEST_CASE("operations: AArch64's stores") {
  // str x1, [x0, #16]
  const auto found = operations("aarch64", {0x01, 0x08, 0x00, 0xf9});
  REQUIRE(found.size() == 1);
  CHECK(found[0].mnemonic == "str");
  CHECK(found[0].operands[1].reg == "x0");
  CHECK(found[0].operands[1].value == 16);
}

}  // namespace
}  // namespace whocall::test
