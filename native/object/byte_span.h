// The bytes of a file as the readers of `rules` take them, and the other way round.
#pragma once

#include <bit>

#include "base/address.h"
#include "base/byte_view.h"
#include "rules/byte_cursor.h"

namespace whocall {

inline bool is_swapped(Endian endian) {
  return (endian == Endian::little) != (std::endian::native == std::endian::little);
}

// `begin` is the address of the first byte.
inline rules::ByteSpan span_of(const ByteView& view, Address begin) {
  return {view.bytes().data(), begin, view.size(), is_swapped(view.endian())};
}

inline ByteView view_of(const rules::ByteSpan& span) {
  constexpr bool kLittle = std::endian::native == std::endian::little;
  return {{span.bytes, span.size}, span.swapped != kLittle ? Endian::little : Endian::big};
}

}  // namespace whocall
