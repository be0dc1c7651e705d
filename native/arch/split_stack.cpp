#include "arch/split_stack.h"

#include <algorithm>
#include <array>
#include <span>

#include "arch/i386.h"
#include "arch/x86_64.h"

namespace whocall {
namespace {

struct OuterCall {
  const Architecture* arch;
  std::span<const std::uint8_t> computes;  // the address behind the own return
  std::span<const std::uint8_t> calls;     // it
  std::int32_t outer;                      // from one return address to the other, bytes
};

// mov 8(%rbp),%r10; inc %r10; ...; call *%r10
constexpr std::array<std::uint8_t, 7> kComputes64 = {0x4c, 0x8b, 0x55, 0x08, 0x49, 0xff, 0xc2};
constexpr std::array<std::uint8_t, 3> kCalls64 = {0x41, 0xff, 0xd2};
// add $2,%eax; inc %eax; mov %eax,-12(%ebp); ...; call *-12(%ebp): two arguments lie between
constexpr std::array<std::uint8_t, 7> kComputes32 = {0x83, 0xc0, 0x02, 0x40, 0x89, 0x45, 0xf4};
constexpr std::array<std::uint8_t, 3> kCalls32 = {0xff, 0x55, 0xf4};

const std::array<OuterCall, 2> kOuterCalls = {
    {{&kX86_64, kComputes64, kCalls64, 8}, {&kI386, kComputes32, kCalls32, 12}}};

}  // namespace

std::optional<std::int32_t> outer_return(const Architecture& arch, ByteView before) {
  const auto code = before.bytes();
  for (const OuterCall& call : kOuterCalls) {
    const auto computes = std::as_bytes(call.computes);
    const auto calls = std::as_bytes(call.calls);
    if (call.arch == &arch && code.size() >= calls.size() &&
        std::ranges::equal(code.last(calls.size()), calls) &&
        std::search(code.begin(), code.end(), computes.begin(), computes.end()) != code.end()) {
      return call.outer;
    }
  }
  return std::nullopt;
}

}  // namespace whocall
