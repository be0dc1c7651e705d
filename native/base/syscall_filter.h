// A filter for system calls (seccomp, Linux 3.5 and later): which are refused, and how.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace whocall {

// Refused calls get an error number, or the process gets SIGSYS. All others go through, but for
// those of kernels that are newer than this file: they do not exist then (ENOSYS).
//
// Of an argument its lower 32 bits count: descriptors, flags and numbers of processes have no more.
class SyscallFilter {
 public:
  struct Argument {
    unsigned index = 0;
    std::uint32_t mask = 0xffffffff;
  };
  static std::uint32_t error(int number);
  static std::uint32_t signal();

  // Whether this machine's calls are known here. On others there is no filter.
  static bool is_known();

  void refuse(int call, std::uint32_t answer);
  void refuse(std::initializer_list<int> calls, std::uint32_t answer);
  // Where the masked argument is one of `values`.
  void refuse_if(int call, Argument argument, const std::vector<std::uint32_t>& values,
                 std::uint32_t answer);
  // Where it is none of them.
  void refuse_unless(int call, Argument argument, const std::vector<std::uint32_t>& values,
                     std::uint32_t answer);
  // Of calls about a flag word: where any bit of the mask is set.
  void refuse_bits(int call, Argument argument, std::uint32_t answer);

  // For this thread and all that it starts, programs too, for good. Tells whether the kernel has
  // taken it; the process has to have given up new privileges before (PR_SET_NO_NEW_PRIVS).
  [[nodiscard]] bool install() const;

 private:
  void add(int call, Argument argument, const std::vector<std::uint32_t>& values,
           std::uint32_t when_equal, std::uint32_t otherwise);

  std::vector<sock_filter> rules_;
};

}  // namespace whocall
