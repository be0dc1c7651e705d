// System calls of x86: `syscall`, `int $0x80`, and what the vDSO has in its place; struct
// user_regs_struct of <sys/user.h>. Threads: tcbhead_t and struct pthread of glibc, struct pthread
// of musl.
#include "arch/x86/call_facts.h"

#include <array>

#include "arch/x86/system_calls.h"

namespace whocall::x86 {
namespace {

constexpr std::array<Register, 6> kArgumentsOf64 = {5, 4, 1, 10, 8, 9};
constexpr std::array<Register, 6> kArgumentsOf32 = {3, 1, 2, 6, 7, 5};
constexpr Register kKeptOf64 = 60;  // reserved by the psABI
constexpr Register kKeptOf32 = 71;

constexpr SystemCallAbi of_64_bits(std::string_view names, std::uint64_t mark) {
  return {.names = names,
          .mark = mark,
          .number = 0,
          .result = 0,
          .arguments = kArgumentsOf64,
          .kept_offset = 120,
          .kept_size = 8,
          .kept_name = "orig_rax",
          .kept = kKeptOf64};
}

}  // namespace

constinit const SystemCallAbi k64CallAbi = [] {
  SystemCallAbi abi = of_64_bits(k64Calls, 0);
  abi.glibc = {.self = 0x10, .tid = 0x2d0};
  abi.musl = {.self = 0, .tid = 0x30, .detach_state = 0x38};
  return abi;
}();

constinit const SystemCallAbi kX32CallAbi = of_64_bits(kX32Calls, 0x40000000);

constinit const SystemCallAbi k32CallAbi = {
    .names = k32Calls,
    .number = 0,
    .result = 0,
    .arguments = kArgumentsOf32,
    .kept_offset = 44,
    .kept_size = 4,
    .kept_name = "orig_eax",
    .kept = kKeptOf32,
    .glibc = {.self = 8, .tid = 0x68},
    .musl = {.self = 0, .tid = 0x18, .detach_state = 0x20},
};

}  // namespace whocall::x86
