// One crash, as its handler was told of it.
#pragma once

#include <sys/types.h>
#include <ucontext.h>
#include <csignal>

namespace whocall::runtime {

struct Crash {
  int signal = 0;
  siginfo_t info{};
  const ucontext_t* context = nullptr;
  pid_t process = 0;
  pid_t thread = 0;
};

}  // namespace whocall::runtime
