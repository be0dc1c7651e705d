// One crash, as its handler was told of it.
#pragma once

#include <sys/types.h>
#include <ucontext.h>
#include <array>
#include <csignal>

#include "runtime/machine.h"

namespace whocall::runtime {

// The registers of a context, in the order of kRegisterNames.
class Registers {
 public:
  static constexpr std::size_t kCount = kRegisterNames.size();

  Registers() = default;
  explicit Registers(const ucontext_t& context) {
    for (std::size_t i = 0; i < kCount; ++i) {
      values_.data()[i] = register_of(context, i);
    }
  }
  [[nodiscard]] std::uint64_t operator[](std::size_t number) const {
    return values_.data()[number];
  }

 private:
  std::array<std::uint64_t, kCount> values_{};
};

struct Crash {
  int signal = 0;
  siginfo_t info{};
  const ucontext_t* context = nullptr;
  pid_t process = 0;
  pid_t thread = 0;
  bool is_question = false;  // nothing crashed: somebody asks where the process stands
};

// How a process ends whose handler was told of a crash.
struct Ending {
  int signal = 0;  // 0: the handler has ended it, by exit() or the like
  int code = 0;    // of the signal
};

}  // namespace whocall::runtime
