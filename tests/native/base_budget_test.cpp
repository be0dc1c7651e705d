// Budgets: sums count, and what runs out is told once.
#include <doctest/doctest.h>

#include <cstdlib>

#include "base/budget.h"

using namespace whocall;

namespace {

constexpr std::uint64_t kMega = std::uint64_t{1} << 20U;

}  // namespace

TEST_CASE("budget: the sum counts, and is told once") {
  take_exhausted_budgets();
  Budget budget("/some/file", 0);
  const std::uint64_t most = budget.left(Cost::unpacked);
  CHECK(most == 256 * kMega);
  CHECK(budget.draw(Cost::unpacked, most - 10));
  CHECK(budget.draw(Cost::unpacked, 10));
  CHECK(budget.draw(Cost::unpacked, 0));
  CHECK(take_exhausted_budgets().empty());
  CHECK_FALSE(budget.draw(Cost::unpacked, 1));
  CHECK_FALSE(budget.draw(Cost::unpacked, ~std::uint64_t{0}));
  CHECK(budget.draw(Cost::notes, 1));  // each cost by itself
  const auto told = take_exhausted_budgets();
  REQUIRE(told.size() == 1);
  CHECK(told[0] ==
        "/some/file has more than 256 MiB of compressed parts: the rest is left out. Where the "
        "file is to be trusted, WHOCALL_BUDGET=4 in the environment allows four times as much.");
  CHECK(take_exhausted_budgets().empty());
}

TEST_CASE("budget: large files may cost more, and what the user says") {
  CHECK(Budget("f", kMega).left(Cost::unpacked) == (256 + 16) * kMega);
  CHECK(Budget("f", ~std::uint64_t{0}).left(Cost::unpacked) == ~std::uint64_t{0});
  ::setenv(kBudgetVariable, "4", 1);
  CHECK(Budget("f", 0).left(Cost::unpacked) == 1024 * kMega);
  ::setenv(kBudgetVariable, "nonsense", 1);
  CHECK(Budget("f", 0).left(Cost::unpacked) == 256 * kMega);
  ::setenv(kBudgetVariable, "99999999999999999999", 1);
  CHECK(Budget("f", ~std::uint64_t{0}).left(Cost::copied) != 0);
  ::unsetenv(kBudgetVariable);
}
