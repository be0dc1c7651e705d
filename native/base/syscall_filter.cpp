#include "base/syscall_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstddef>

namespace whocall {
namespace {

// The machine whose numbers <sys/syscall.h> has: calls by those of another one, which x86-64 takes
// from any process, pass every rule by. 0 where nobody has tried this.
#if defined(__x86_64__) && !defined(__ILP32__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kMachine = 0;
#endif
constexpr std::uint32_t kX32Bit = 0x40000000;  // set in the numbers of x32's calls
constexpr std::uint32_t kNewest = 470;         // of Linux 6.19; all machines count alike since 5.1

constexpr sock_filter statement(unsigned code, std::uint32_t value) {
  return {static_cast<std::uint16_t>(code), 0, 0, value};
}

constexpr sock_filter jump(unsigned code, std::uint32_t value, std::size_t if_true,
                           std::size_t if_false) {
  return {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true),
          static_cast<std::uint8_t>(if_false), value};
}

constexpr unsigned kLoad = BPF_LD | BPF_W | BPF_ABS;
constexpr unsigned kAnd = BPF_ALU | BPF_AND | BPF_K;
constexpr unsigned kEqual = BPF_JMP | BPF_JEQ | BPF_K;
constexpr unsigned kGreater = BPF_JMP | BPF_JGT | BPF_K;
constexpr unsigned kReturn = BPF_RET | BPF_K;

}  // namespace

std::uint32_t SyscallFilter::error(int number) {
  return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(number) & SECCOMP_RET_DATA);
}

std::uint32_t SyscallFilter::signal() { return SECCOMP_RET_TRAP; }

bool SyscallFilter::is_known() { return kMachine != 0; }

void SyscallFilter::refuse(int call, std::uint32_t answer) {
  rules_.push_back(jump(kEqual, static_cast<std::uint32_t>(call), 0, 1));
  rules_.push_back(statement(kReturn, answer));
}

void SyscallFilter::refuse(std::initializer_list<int> calls, std::uint32_t answer) {
  for (const int call : calls) {
    refuse(call, answer);
  }
}

void SyscallFilter::refuse_if(int call, Argument argument, const std::vector<std::uint32_t>& values,
                              std::uint32_t answer) {
  add(call, argument, values, answer, SECCOMP_RET_ALLOW);
}

void SyscallFilter::refuse_unless(int call, Argument argument,
                                  const std::vector<std::uint32_t>& values, std::uint32_t answer) {
  add(call, argument, values, SECCOMP_RET_ALLOW, answer);
}

void SyscallFilter::refuse_bits(int call, Argument argument, std::uint32_t answer) {
  add(call, argument, {0}, SECCOMP_RET_ALLOW, answer);
}

// What is behind the call's number is about this call alone, so it always ends in an answer, and
// the number, which the next rule looks at, need not be loaded again.
void SyscallFilter::add(int call, Argument argument, const std::vector<std::uint32_t>& values,
                        std::uint32_t when_equal, std::uint32_t otherwise) {
  const std::size_t length = values.size() + 4;
  rules_.push_back(jump(kEqual, static_cast<std::uint32_t>(call), 0, length));
  const std::size_t place = offsetof(seccomp_data, args) + argument.index * sizeof(std::uint64_t);
  rules_.push_back(statement(kLoad, static_cast<std::uint32_t>(place)));  // both are little-endian
  rules_.push_back(statement(kAnd, argument.mask));
  for (std::size_t at = 0; at < values.size(); ++at) {
    rules_.push_back(jump(kEqual, values[at], values.size() - at, 0));
  }
  rules_.push_back(statement(kReturn, otherwise));
  rules_.push_back(statement(kReturn, when_equal));
}

bool SyscallFilter::install() const {
  if (!is_known()) {
    return false;
  }
  std::vector<sock_filter> program{
      statement(kLoad, offsetof(seccomp_data, arch)),
      jump(kEqual, kMachine, 1, 0),
      statement(kReturn, SECCOMP_RET_KILL_PROCESS),
      statement(kLoad, offsetof(seccomp_data, nr)),
      jump(kGreater, kX32Bit - 1, 0, 1),
      statement(kReturn, SECCOMP_RET_KILL_PROCESS),
      jump(kGreater, kNewest, 0, 1),
      statement(kReturn, error(ENOSYS)),
  };
  program.insert(program.end(), rules_.begin(), rules_.end());
  program.push_back(statement(kReturn, SECCOMP_RET_ALLOW));
  const sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0) == 0;
}

}  // namespace whocall
