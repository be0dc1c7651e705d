// The table of rules by return address: it never fills up, and never tells one address' rule of
// another.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/rule_cache.h"

namespace {

using whocall::rules::ShortRule;
using whocall::runtime::RuleCache;

constexpr std::size_t kAddresses = 50'000;  // several times what the table holds

// Code for as many return addresses.
class Code {
 public:
  [[nodiscard]] std::uintptr_t address(std::size_t number) const {
    return reinterpret_cast<std::uintptr_t>(bytes_.data()) + sizeof(std::uint64_t) + number;
  }

 private:
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(kAddresses + 16);
};

// One whose every part tells of which address it is.
ShortRule rule_of(std::size_t number) {
  return {.cfa_offset = static_cast<std::int32_t>(number),
          .return_slot = static_cast<std::int16_t>(number),
          .fp_slot = static_cast<std::int16_t>(~number),
          .kind = ShortRule::kPlain};
}

bool is_of(const ShortRule& rule, std::size_t number) {
  const ShortRule wanted = rule_of(number);
  return rule.cfa_offset == wanted.cfa_offset && rule.return_slot == wanted.return_slot &&
         rule.fp_slot == wanted.fp_slot && rule.kind == wanted.kind;
}

bool finds(const RuleCache& cache, const Code& code, std::size_t number) {
  ShortRule rule;
  return cache.find(code.address(number), rule) && is_of(rule, number);
}

}  // namespace

TEST_CASE("what is put in last is found, however much was put in before") {
  const Code code;
  const auto cache = std::make_unique<RuleCache>();
  std::size_t missing = 0;
  for (std::size_t i = 0; i < kAddresses; ++i) {
    cache->put(code.address(i), rule_of(i));
    missing += finds(*cache, code, i) ? 0 : 1;
  }
  CHECK(missing == 0);
  // And all but a few of those before, as far as there is room.
  std::size_t found = 0;
  for (std::size_t i = kAddresses - 8000; i < kAddresses; ++i) {
    found += finds(*cache, code, i) ? 1 : 0;
  }
  CHECK(found > 7900);
}

TEST_CASE("a table that forgot everything has room for as much again") {
  const Code code;
  const auto cache = std::make_unique<RuleCache>();
  for (std::size_t round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < 1000; ++i) {
      cache->put(code.address(i), rule_of(i));
    }
    std::size_t found = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
      found += finds(*cache, code, i) ? 1 : 0;
    }
    CHECK(found == 1000);
    cache->clear();
    CHECK_FALSE(finds(*cache, code, 0));
  }
}

TEST_CASE("a walk finds one entry behind the other, and elsewhere what lies elsewhere") {
  const Code code;
  const auto cache = std::make_unique<RuleCache>();
  for (std::size_t i = 0; i < 20; ++i) {
    cache->put(code.address(i), rule_of(i));
  }
  RuleCache::Entry* at = cache->nobody();
  for (const std::size_t i : {0, 1, 2, 7, 8, 3, 19}) {
    at = cache->find_behind(at, code.address(i));
    CHECK(is_of(at->rule, i));
    CHECK(RuleCache::is_still(*at, code.address(i)));
  }
  at = cache->find_behind(at, code.address(30));
  CHECK(at == cache->nobody());
  CHECK_FALSE(RuleCache::is_still(*at, code.address(30)));
}

TEST_CASE("threads that write over each other's entries never read another address' rule") {
  const Code code;
  const auto cache = std::make_unique<RuleCache>();
  std::atomic<std::size_t> wrong{0};
  const auto work = [&](std::size_t begin) {
    for (std::size_t i = 0; i < 3 * kAddresses; ++i) {
      const std::size_t number = (begin + i * 7) % kAddresses;
      ShortRule rule;
      if (!cache->find(code.address(number), rule)) {
        cache->put(code.address(number), rule_of(number));
      } else if (!is_of(rule, number)) {
        ++wrong;
      }
      if (i % 20'000 == 0) {
        cache->clear();
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back(work, i * 11);
  }
  for (std::thread& each : threads) {
    each.join();
  }
  CHECK(wrong == 0);
}
