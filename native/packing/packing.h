// What programs pack streams with, told by a stream's first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace whocall {

enum class Packing : std::uint8_t { zstd, lz4, xz, gzip, bzip2 };

// `zstd`, as its program is called.
std::string_view name_of(Packing packing);

// Bytes that tell it.
inline constexpr std::size_t kPackingMark = 6;
// A miss where they are fewer, or of none that is known here.
std::optional<Packing> packing_of(std::span<const std::byte> head);

}  // namespace whocall
