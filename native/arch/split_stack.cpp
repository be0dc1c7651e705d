#include "arch/split_stack.h"

#include <algorithm>

namespace whocall {

std::optional<std::int32_t> outer_return(const Architecture& arch, ByteView before) {
  const OuterCall& form = arch.frame.outer_call;
  const auto code = before.bytes();
  const auto computes = std::as_bytes(form.computes);
  const auto calls = std::as_bytes(form.calls);
  const bool found =
      !calls.empty() && code.size() >= calls.size() &&
      std::ranges::equal(code.last(calls.size()), calls) &&
      std::search(code.begin(), code.end(), computes.begin(), computes.end()) != code.end();
  return found ? std::optional(form.outer) : std::nullopt;
}

}  // namespace whocall
