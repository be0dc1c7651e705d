// What a look-up reads of a symbol, and how eight of them are compared with an address.
#pragma once

#include <bit>
#include <cstdint>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace whocall {

struct IndexEntry {
  // Distance from the first symbol of all, its highest bit flipped: compared with a sign.
  std::uint32_t start = 0;
  std::uint32_t length : 31 = 0;  // of the first symbol that starts here
  std::uint32_t follows : 1 = 0;  // the symbol before it in the list starts here as well
};
static_assert(sizeof(IndexEntry) == 8);
inline constexpr std::uint32_t kEntriesAtOnce = 8;

// How many of so many entries, which ascend, start at or below `start`: as any machine finds it.
inline std::uint32_t count_one_by_one(const IndexEntry* entries, std::uint32_t start) {
  std::uint32_t below = 0;
  for (std::uint32_t i = 0; i < kEntriesAtOnce; ++i) {
    below += static_cast<std::int32_t>(entries[i].start) <= static_cast<std::int32_t>(start);
  }
  return below;
}

#ifdef __SSE2__
// The same, all at once. Those at or below `start` are the first ones.
inline std::uint32_t count_at_or_below(const IndexEntry* entries, std::uint32_t start) {
  const auto* at = reinterpret_cast<const __m128i*>(entries);
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(start));
  const auto starts_of_four = [at](int pair) {
    const __m128 low = _mm_castsi128_ps(_mm_loadu_si128(at + pair));
    const __m128 high = _mm_castsi128_ps(_mm_loadu_si128(at + pair + 1));
    return _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
  };
  const __m128i above = _mm_packs_epi32(_mm_cmpgt_epi32(starts_of_four(0), wanted),
                                        _mm_cmpgt_epi32(starts_of_four(2), wanted));
  const auto bytes_above = static_cast<unsigned>(_mm_movemask_epi8(above));
  return static_cast<std::uint32_t>(std::countr_zero(bytes_above | 1U << (2 * kEntriesAtOnce))) / 2;
}
#else
inline std::uint32_t count_at_or_below(const IndexEntry* entries, std::uint32_t start) {
  return count_one_by_one(entries, start);
}
#endif

}  // namespace whocall
