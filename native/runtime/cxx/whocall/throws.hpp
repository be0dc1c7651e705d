// Where an exception was thrown, and what is said of one that nobody caught.
//
// One file of the program defines WHOCALL_TRACE_THROWS before it includes <whocall.hpp>: then each
// throw of the program and of the libraries that it is linked with keeps its stack (addresses
// alone, 64 at most) for as long as the exception lives, and stacktrace::from_current_exception()
// has it wherever that is handled.
#ifndef WHOCALL_THROWS_HPP
#define WHOCALL_THROWS_HPP

#include <whocall.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <typeinfo>

#include <whocall/stacktrace.hpp>
#include <whocall/text.hpp>

namespace whocall {
namespace detail {

// The stacks of all exceptions that live, by their objects. Nothing here throws: it runs where
// somebody throws, maybe as memory is short.
class thrown_stacks {
 public:
  using destructor = void (*)(void*);
  // What whocall_capture() gives: who asks comes first.
  static constexpr std::size_t k_most = 65;

  struct stack {
    void* object;
    destructor destroy;  // null: nothing is to be done
    stack* next;
    std::size_t count;
    void* addresses[k_most];
  };

  static thrown_stacks& of_program() noexcept {
    // It stays to the end: static objects may throw while they are destroyed.
    static thrown_stacks* const all = ::new (room()) thrown_stacks;
    return *all;
  }

  // False where there is no memory for it.
  bool keep(const stack& thrown) noexcept {
    auto* kept = static_cast<stack*>(std::malloc(sizeof(stack)));
    if (kept == nullptr) {
      return false;
    }
    *kept = thrown;
    const std::lock_guard<std::mutex> lock(mutex_);
    stack*& first = first_of(thrown.object);
    kept->next = first;
    first = kept;
    return true;
  }

  // Forgets it. What is to be done with the object.
  destructor drop(const void* object) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (stack** at = &first_of(object); *at != nullptr; at = &(*at)->next) {
      if ((*at)->object == object) {
        stack* const found = *at;
        const destructor destroy = found->destroy;
        *at = found->next;
        std::free(found);
        return destroy;
      }
    }
    return nullptr;
  }

  // Its count is 0 where nobody has seen the exception thrown.
  stack find(const void* object) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const stack* at = first_of(object); at != nullptr; at = at->next) {
      if (at->object == object) {
        return *at;
      }
    }
    return {};
  }

 private:
  static constexpr std::size_t k_lists = 256;

  static void* room() noexcept {
    alignas(thrown_stacks) static unsigned char bytes[sizeof(thrown_stacks)];
    return bytes;
  }
  stack*& first_of(const void* object) noexcept {
    return lists_[reinterpret_cast<std::uintptr_t>(object) / 64 % k_lists];
  }

  std::mutex mutex_;
  stack* lists_[k_lists] = {};
};

// libstdc++'s and libc++'s exception_ptr are this pointer.
inline void* object_of(const std::exception_ptr& exception) noexcept {
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
  const std::string name = type == nullptr ? "unknown type" : spelled(type->name());
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    const char* what = error.what();
    return "an exception was not caught: " + name + (what == nullptr ? "" : ": ") +
           (what == nullptr ? "" : what);
  } catch (...) {
    return "an exception was not caught: " + name;
  }
}

}  // namespace detail

template <class Allocator>
basic_stacktrace<Allocator> basic_stacktrace<Allocator>::from_current_exception(
    const Allocator& allocator) noexcept {
  try {
    const std::exception_ptr current = std::current_exception();
    const detail::thrown_stacks::stack thrown =
        detail::thrown_stacks::of_program().find(detail::object_of(current));
    return of_addresses(thrown.addresses, thrown.count, 0, thrown.count, allocator);
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
  using whocall::detail::thrown_stacks;
  thrown_stacks::stack thrown = {};
  thrown.object = object;
  thrown.destroy = destroy;
  thrown.count = whocall_capture(thrown.addresses, thrown_stacks::k_most);
  const auto destroy_and_forget = [](void* ended) {
    const thrown_stacks::destructor last = thrown_stacks::of_program().drop(ended);
    if (last != nullptr) {
      last(ended);
    }
  };
  const bool is_kept = thrown_stacks::of_program().keep(thrown);
  using thrower = void (*)(void*, void*, void (*)(void*));
  static const auto next = reinterpret_cast<thrower>(::dlsym(RTLD_NEXT, "__cxa_throw"));
  if (next != nullptr) {
    next(object, type,
         is_kept ? static_cast<thrown_stacks::destructor>(destroy_and_forget) : destroy);
  }
  std::fputs("whocall: WHOCALL_TRACE_THROWS needs the C++ library as a shared one\n", stderr);
  std::abort();
}
#endif

#endif
