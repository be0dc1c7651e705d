#include "arch/system_call.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace whocall {
namespace {

// Of the instruction sets whose operations are told. `int` is meant with the numbers of Linux and
// Windows alone.
constexpr std::array<std::string_view, 6> kSystemCalls = {"syscall", "sysenter", "svc",
                                                          "sc",      "ecall",    "int"};
constexpr std::array<std::int64_t, 2> kInterrupts = {0x80, 0x2e};

bool calls_the_kernel(const Operation& operation) {
  const bool may = std::ranges::find(kSystemCalls, operation.mnemonic) != kSystemCalls.end();
  if (operation.mnemonic != "int") {
    return may;
  }
  return operation.operands.size() == 1 &&
         std::ranges::find(kInterrupts, operation.operands[0].value) != kInterrupts.end();
}

}  // namespace

bool ends_with_system_call(InstructionDecoder& decoder, ByteView before, Address address) {
  constexpr std::array<std::size_t, 2> kSizes = {2, 4};
  return std::ranges::any_of(kSizes, [&](std::size_t size) {
    if (before.size() < size) {
      return false;
    }
    const auto operation = decoder.operation(before.from(before.size() - size), address - size);
    return operation && operation->size == size && calls_the_kernel(*operation);
  });
}

}  // namespace whocall
