// Decompression of section contents: zlib, zstd, and the older .zdebug form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/budget.h"
#include "base/byte_view.h"

namespace whocall {

// No section is inflated to more than this many bytes, ...
inline constexpr std::uint64_t kLargestSection = std::uint64_t{4} << 30;
// ... nor, above kSmallSection bytes, to more than this many times its compressed size (deflate
// cannot exceed 1,032): a small hostile file must not cost gigabytes.
inline constexpr std::uint64_t kLargestRatio = 1100;
inline constexpr std::uint64_t kSmallSection = std::uint64_t{1} << 20;

struct OwnedBytes {
  std::unique_ptr<std::byte[]> data;
  std::size_t size = 0;
};

// `contents` begins with an Elf32_Chdr or Elf64_Chdr (SHF_COMPRESSED; gABI, "Compression
// header"). A miss when the data are damaged, of an unknown method, over the caps or what is left
// of the file's budget.
std::optional<OwnedBytes> decompress_section(ByteView contents, unsigned pointer_size,
                                             Budget& budget);
// `contents` begins with "ZLIB" and the inflated size as 8 bytes, most significant first.
std::optional<OwnedBytes> decompress_zdebug(ByteView contents, Budget& budget);

}  // namespace whocall
