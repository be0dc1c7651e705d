// Where an exception was thrown, and what is said of one that nobody caught.
//
// One file of the program defines WHOCALL_TRACE_THROWS before it includes <whocall.hpp>: then each
// throw of the program and its libraries keeps its stack (addresses alone), and
// stacktrace::from_current_exception() has it while the exception is handled.
#ifndef WHOCALL_THROWS_HPP
#define WHOCALL_THROWS_HPP

#include <whocall.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <typeinfo>

#include <whocall/stacktrace.hpp>
#include <whocall/text.hpp>

namespace whocall {
namespace detail {

// The latest throw of a thread. Rethrown ones keep the stack of their first.
struct last_throw {
  static constexpr std::size_t k_most = 64;
  void* object = nullptr;
  std::size_t count = 0;
  void* addresses[k_most] = {};

  static last_throw& of_thread() {
    static thread_local last_throw latest;
    return latest;
  }
};

// libstdc++'s and libc++'s exception_ptr are this pointer.
inline void* object_of(const std::exception_ptr& exception) {
  void* object = nullptr;
  static_assert(sizeof exception == sizeof object, "an exception_ptr of another C++ library");
  std::memcpy(&object, static_cast<const void*>(&exception), sizeof object);
  return object;
}

inline std::string said_of_current_exception() {
  const std::exception_ptr exception = std::current_exception();
  if (exception == nullptr) {
    return "std::terminate() was called without an exception";
  }
  const std::type_info* type = abi::__cxa_current_exception_type();
  const std::string name = type == nullptr ? "unknown type" : demangled(type->name());
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return "an exception was not caught: " + name + ": " + error.what();
  } catch (...) {
    return "an exception was not caught: " + name;
  }
}

}  // namespace detail

template <class Allocator>
basic_stacktrace<Allocator> basic_stacktrace<Allocator>::from_current_exception(
    const Allocator& allocator) noexcept {
  try {
    const detail::last_throw& latest = detail::last_throw::of_thread();
    const std::exception_ptr current = std::current_exception();
    if (current == nullptr || detail::object_of(current) != latest.object) {
      return basic_stacktrace(allocator);
    }
    return of_addresses(latest.addresses, latest.count, 0, latest.count, allocator);
  } catch (...) {
    return basic_stacktrace(allocator);
  }
}

// Says what was not caught and where it was thrown (with WHOCALL_TRACE_THROWS; else where the
// program stands), to standard error, and aborts.
[[noreturn]] inline void tell_and_abort() noexcept {
  try {
    std::fputs((detail::harmless(detail::said_of_current_exception()) + "\n").c_str(), stderr);
    const stacktrace thrown = stacktrace::from_current_exception();
    print(stderr, thrown.empty() ? stacktrace::current(1) : thrown);
  } catch (...) {
  }
  std::abort();
}

// From now on std::terminate() tells.
inline void install_terminate_handler() noexcept { std::set_terminate(tell_and_abort); }

}  // namespace whocall

#ifdef WHOCALL_TRACE_THROWS
#include <dlfcn.h>

// Compilers declare __cxa_throw() by themselves, each in another way.
extern "C" [[noreturn]] __attribute__((noinline, visibility("default"))) void whocall_seen_throw(
    void* object, void* type, void (*destroy)(void*)) __asm__("__cxa_throw");

extern "C" void whocall_seen_throw(void* object, void* type, void (*destroy)(void*)) {
  whocall::detail::last_throw& latest = whocall::detail::last_throw::of_thread();
  void* addresses[whocall::detail::last_throw::k_most];
  const std::size_t count = whocall_capture(addresses, whocall::detail::last_throw::k_most);
  latest.object = object;
  latest.count = count == 0 ? 0 : count - 1;
  std::memcpy(latest.addresses, addresses + (count == 0 ? 0 : 1), latest.count * sizeof *addresses);
  using thrower = void (*)(void*, void*, void (*)(void*));
  static const auto next = reinterpret_cast<thrower>(::dlsym(RTLD_NEXT, "__cxa_throw"));
  if (next != nullptr) {
    next(object, type, destroy);
  }
  std::abort();
}
#endif

#endif
