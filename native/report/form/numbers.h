// Numbers as a reader likes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace whocall {

// "261,984"
std::string with_commas(std::size_t value);

// "2..4, 7": rising runs of three and more shortened. `prefix` stands before every number.
std::string number_runs(std::span<const std::int64_t> values, std::string_view prefix = {});

}  // namespace whocall
