// A C++ library: methods of classes, a template, a lambda and a function in an unnamed namespace.
// Build: g++ -O2 -shared -fPIC -o liblibrary.so library.cpp
// Build: g++ -O2 library_user.cpp liblibrary.so
#include "library.h"

#include <whocall.h>

#include <algorithm>

namespace {

[[gnu::noinline]] void notice() {
  who_call_me(nullptr);
  asm volatile("");
}

}  // namespace

namespace library {

// Nobody inlines them: some compilers would draw a known shape in draw_all itself.
[[gnu::noinline]] void Circle::draw(int times) const {
  notice();
  asm volatile("" : : "r"(times));
}

[[gnu::noinline]] void Square::draw(int times) const {
  notice();
  asm volatile("nop" : : "r"(times));  // or the compiler makes one function of both
}

void draw_all(const std::vector<const Shape*>& shapes) {
  std::for_each(shapes.begin(), shapes.end(), [](const Shape* shape) {
    shape->draw(2);
    who_call_me(nullptr);
  });
}

}  // namespace library
