#include "packing/packing.h"

#include <algorithm>
#include <array>

namespace whocall {
namespace {

struct PackingMark {
  std::string_view bytes;
  Packing packing;
};

constexpr std::array kPackingMarks{
    PackingMark{"\x28\xb5\x2f\xfd", Packing::zstd},
    PackingMark{"\x04\x22\x4d\x18", Packing::lz4},
    PackingMark{{"\xfd\x37zXZ\0", kPackingMark}, Packing::xz},
    PackingMark{"\x1f\x8b", Packing::gzip},
    PackingMark{"BZh", Packing::bzip2},
};

// A frame that readers skip: its magic number is one of sixteen.
bool begins_with_skipped_frame(std::string_view head) {
  return head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xf0U) == 0x50 &&
         head.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

std::string_view name_of(Packing packing) {
  constexpr std::array<std::string_view, 5> kNames{"zstd", "lz4", "xz", "gzip", "bzip2"};
  return kNames[static_cast<std::size_t>(packing)];
}

std::optional<Packing> packing_of(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (begins_with_skipped_frame(text)) {
    return Packing::zstd;
  }
  const auto* const found = std::ranges::find_if(
      kPackingMarks, [&](const PackingMark& mark) { return text.starts_with(mark.bytes); });
  return found == kPackingMarks.end() ? std::nullopt : std::optional(found->packing);
}

}  // namespace whocall
