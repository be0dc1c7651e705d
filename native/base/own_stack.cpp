#include "base/own_stack.h"

#include <pthread.h>

#include <algorithm>
#include <climits>
#include <csignal>

namespace whocall {
namespace {

void* run(void* work) {
  (*static_cast<const std::function<void()>*>(work))();
  return nullptr;
}

// Pages are not touched before the work reaches them.
bool start(pthread_t& thread, std::size_t size, const std::function<void()>& work) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) {
    return false;
  }
  constexpr std::size_t kPages = std::size_t{64} << 10U;  // of the largest machine
  const std::size_t stack = std::max<std::size_t>((size + kPages - 1) / kPages * kPages,
                                                  static_cast<std::size_t>(PTHREAD_STACK_MIN));
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // the user's signals are for the thread that waits
  const bool started = pthread_attr_setstacksize(&attributes, stack) == 0 &&
                       pthread_create(&thread, &attributes, &run,
                                      const_cast<void*>(static_cast<const void*>(&work))) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

bool on_own_stack(std::size_t size, const std::function<void()>& work) {
  pthread_t thread = {};
  return start(thread, size, work) && pthread_join(thread, nullptr) == 0;
}

}  // namespace whocall
