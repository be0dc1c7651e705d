// Blocks of saved registers beside what the system's headers say of them.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "arch/architecture.h"

namespace whocall::test {

inline std::optional<SavedRegister> saved(std::span<const SavedRegister> block,
                                          const Architecture& arch, std::string_view name) {
  const auto number = arch.register_named(name);
  for (const SavedRegister& one : block) {
    if (one.number == number) {
      return one;
    }
  }
  return std::nullopt;
}

inline void check_block(std::span<const SavedRegister> block, const Architecture& arch,
                        const std::map<std::string, std::size_t>& expected, unsigned size) {
  CHECK(block.size() == expected.size());
  for (const auto& one : expected) {
    CAPTURE(one.first);
    const auto found = saved(block, arch, one.first);
    REQUIRE(found.has_value());
    CHECK(found->offset == one.second);
    CHECK(found->size == size);
  }
}

}  // namespace whocall::test
