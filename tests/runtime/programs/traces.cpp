// Asks for stack traces as C++ has them: of here, of a throw, of an exception that nobody caught.
#define WHOCALL_TRACE_THROWS
#include <cstring>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <unordered_set>
#include <whocall.hpp>

namespace shop {

struct Order {
  int number;
};

whocall::stacktrace seen;

__attribute__((always_inline)) inline void look(int skip) {
  seen = whocall::stacktrace::current(static_cast<std::size_t>(skip));
  __asm__ volatile("");
}

__attribute__((noinline)) void total(Order order) {
  look(order.number);
  __asm__ volatile("");
}

__attribute__((noinline)) void refuse(int number) {
  if (number >= 0) {
    throw std::runtime_error("no order " + std::to_string(number));
  }
  __asm__ volatile("");
}

template <class Number>
__attribute__((noinline)) void handle(Number number) {
  total(Order{static_cast<int>(number)});
  refuse(7);
  __asm__ volatile("");
}

}  // namespace shop

// What is the same is found again, and one that was taken elsewhere is another.
static bool compare(const whocall::stacktrace& one, const whocall::stacktrace& other) {
  std::unordered_set<whocall::stacktrace> set{one, one, other};
  std::map<whocall::stacktrace, int> sorted;
  sorted[one] = 1;
  sorted[other] = 2;
  return one == one && one != other && (one < other) != (other < one) && set.size() == 2 &&
         sorted.size() == 2 && one[0] == *one.begin() && one.at(0) == one[0];
}

static bool bounds() {
  const whocall::stacktrace whole = whocall::stacktrace::current();
  return whocall::stacktrace::current(1000).empty() &&
         whocall::stacktrace::current(0, 1).size() == 1 &&
         whocall::stacktrace::current(0, 0).empty() && whole.size() > 1 &&
         whocall::stacktrace().empty() && !whocall::stacktrace_entry() && whole[0];
}

__attribute__((noinline)) static std::size_t deep(int left) {
  const std::size_t found = left == 0 ? whocall::stacktrace::current().size() : deep(left - 1);
  __asm__ volatile("");
  return found;
}

// As types these names would be something else.
extern "C" __attribute__((noinline)) bool f() {
  const bool is_right = whocall::stacktrace::current()[0].description() == "f";
  __asm__ volatile("");
  return is_right;
}

struct Noisy {
  ~Noisy() {
    try {
      throw 1;
    } catch (int) {
    }
  }
};

__attribute__((noinline)) static void unwind_noisily() {
  const Noisy noisy;
  shop::refuse(1);
}

template <class Action>
static std::size_t frames_of(Action&& action) {
  try {
    action();
  } catch (...) {
    try {
      throw 2;
    } catch (int) {
    }
    return whocall::stacktrace::from_current_exception().size();
  }
  return 0;
}

// A stack is that of the exception's own throw, in any thread, as long as it lives, and no other's.
static bool lives() {
  const auto refused = [] { shop::refuse(3); };
  const bool is_found = frames_of(refused) > 1 && frames_of(unwind_noisily) > 1 &&
                        frames_of([&] { std::async(std::launch::async, refused).get(); }) > 1;
  const auto made = std::make_exception_ptr(std::runtime_error("never thrown"));
  return is_found && frames_of([&] { std::rethrow_exception(made); }) == 0;
}

static bool more_bounds() {
  const std::allocator<whocall::stacktrace_entry> allocator;
  const auto here = whocall::stacktrace::current();
  const auto same = whocall::stacktrace::current(allocator);
  const auto without = whocall::stacktrace::current(1, allocator);
  return whocall::stacktrace::current(static_cast<std::size_t>(-1)).empty() &&
         whocall::stacktrace_entry().module_offset() == 0 && here.size() == same.size() &&
         without.size() + 1 == here.size() && without[0] == here[1] && here >= without &&
         without <= here && here > without && f();
}

struct Last {
  ~Last() {
    if (speaks) {
      std::cout << whocall::stacktrace::current();
    }
  }
  bool speaks = false;
};
static Last last;

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  try {
    shop::handle(0L);
  } catch (const std::exception&) {
    const auto thrown = whocall::stacktrace::from_current_exception();
    if (std::strcmp(what, "here") == 0) {
      std::cout << to_json(shop::seen);
    } else if (std::strcmp(what, "thrown") == 0) {
      std::cout << to_json(thrown);
    } else if (std::strcmp(what, "text") == 0) {
      std::cout << shop::seen << "entry: " << shop::seen[0] << "\n";
    } else if (std::strcmp(what, "rest") == 0) {
      std::cout << compare(shop::seen, thrown) << bounds() << (deep(3000) > 3000) << lives()
                << more_bounds();
    } else if (std::strcmp(what, "exit") == 0) {
      std::cout << thrown;
      last.speaks = true;
    }
    if (std::strcmp(what, "again") == 0) {
      whocall::install_terminate_handler();
      throw;
    }
  }
  std::cout << whocall::stacktrace::from_current_exception().size() << "\n";
  if (std::strcmp(what, "uncaught") == 0) {
    whocall::install_terminate_handler();
    shop::refuse(9);
  }
}
