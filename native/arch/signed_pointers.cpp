#include "arch/signed_pointers.h"

#include <bit>
#include <map>
#include <mutex>
#include <utility>

namespace whocall {

const Architecture& with_signatures_in(const Architecture& arch, std::uint64_t bits) {
  constexpr unsigned kFewest = 32;
  constexpr unsigned kMost = 55;
  const auto size = static_cast<unsigned>(std::countr_zero(bits));
  const Address mask = size < 64 ? (Address{1} << size) - 1 : ~Address{0};
  if (size < kFewest || size > kMost || mask == arch.code.pointer_mask) {
    return arch;
  }
  // A process and all that comes of it refer to their architecture; there are few sizes.
  static std::mutex one_at_a_time;
  static std::map<std::pair<const Architecture*, unsigned>, Architecture> all;
  const std::lock_guard lock(one_at_a_time);
  const auto [place, is_new] = all.try_emplace({&arch, size}, arch);
  place->second.code.pointer_mask = mask;
  return place->second;
}

}  // namespace whocall
