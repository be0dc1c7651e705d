// Names that were made to kill or to exhaust whoever demangles them stay as they are.
#include <doctest/doctest.h>

#include <string>

#include "symbols/table/demangler.h"

namespace whocall {
namespace {

// The Itanium reference to the substitution of a number.
std::string substitution(unsigned number) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string digits;
  for (unsigned rest = number; rest != 0; rest = (rest - 1) / 36) {
    digits.insert(digits.begin(), kDigits[(rest - 1) % 36]);
    if (rest <= 36) {
      break;
    }
  }
  return "S" + digits + "_";
}

// p<int, int>, and types of which each has the one before it twice.
std::string doubled(unsigned times, unsigned pair) {
  std::string types = "1pIiiE";
  for (unsigned i = 0; i < times; ++i) {
    const std::string before = substitution(pair + 1 + i);
    types += substitution(pair) + "I" + before + before + "E";
  }
  return types;
}

void check_left_as_it_is(const std::string& name) {
  CHECK((demangle(name) == name));  // not printed: some are long
}

}  // namespace

TEST_CASE("demangling: names that compilers write") {
  CHECK(demangle("_Z1f" + doubled(2, 0)) ==
        "f(p<int, int>, p<p<int, int>, p<int, int> >, p<p<p<int, int>, p<int, int> >, p<p<int, "
        "int>, p<int, int> > >)");
  CHECK(demangle("_Z1f" + doubled(8, 0)).size() == 8652);
  CHECK(demangle("_Z1fIJiiEEvDpT_") == "void f<int, int>(int, int)");
  CHECK(demangle("_ZN3foo3barEi@@V_1") == "foo::bar(int)@@V_1");
  CHECK(demangle("_RNvMC3fooFG0_uEu3bar") == "<for<'a, 'b> fn(())>::bar");
  CHECK(demangle("_D3foo3barFAxaQdQfZv") == "foo.bar(const(char)[], const(char)[], const(char)[])");
}

TEST_CASE("demangling: doublings end with the raw name") {
  check_left_as_it_is("_Z1f" + doubled(16, 0));
  check_left_as_it_is("_Z1f" + doubled(40, 0));
}

TEST_CASE("demangling: work without a word of it") {
  check_left_as_it_is("_Z1fDp1qI" + doubled(40, 1) + "E");
  check_left_as_it_is("_RNvMC3fooFGzzzzzz_Eu3bar");
  check_left_as_it_is("_RNvMC3fooFGzzzzzzzzzz_EuEu3bar");
  check_left_as_it_is("_RC3f_RYDGFGZFGFSto_");  // in the crate behind the path
  CHECK(demangle("_RINvMs_C3fooNtB5_6Global3barNtB5_3BazE") == "<foo::Global>::bar::<foo::Baz>");
}

TEST_CASE("demangling: depth without bounds") {
  check_left_as_it_is("_D3foo" + std::string(3'000'000, 'P') + "i");
  CHECK(demangle("_D3foo" + std::string(60'000, 'P') + "i") == "foo");
  CHECK(demangle("_D3foo3barF" + std::string(60'000, 'P') + "iZv").size() == 60'012);
  check_left_as_it_is("_Z1f" + std::string(3'000'000, 'P') + "i");
  check_left_as_it_is("_RINvC3foo3bar" + std::string(60'000, 'R') + "uE");
}

TEST_CASE("demangling: references in D's names that double") {
  std::string name = "_D3foo3barF";
  std::size_t before = name.size();
  name += "FiZv";
  const auto refer = [&name](std::size_t to) {
    const std::size_t back = name.size() - to;
    CHECK(back < 26);
    name += {'Q', static_cast<char>('a' + back)};
  };
  const auto double_it = [&](int times) {
    for (int i = 0; i < times; ++i) {  // a function of what stands before it, twice
      const std::size_t here = name.size();
      name += 'F';
      refer(before);
      refer(before);
      name += "Zv";
      before = here;
    }
  };
  double_it(2);
  const std::string few = demangle(name + "Zv");
  CHECK(
      few.starts_with("foo.bar(void(int) function, void(void(int) function, void(int) function)"));
  double_it(40);
  check_left_as_it_is(name + "Zv");
}

}  // namespace whocall
