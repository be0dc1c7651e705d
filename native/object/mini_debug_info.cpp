#include "object/mini_debug_info.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "object/xz.h"

namespace whocall {
namespace {

// Symbols of a hundred million bytes of code fit; a small hostile section costs no more than this.
constexpr std::uint64_t kLargestImage = std::uint64_t{256} << 20;

// What unpacking costs where it comes to nothing is not known: no more than that.
std::uint64_t most_of(ByteView packed) {
  constexpr std::uint64_t kLargestRatio = 8192;  // of xz
  return std::min<std::uint64_t>(packed.size() * kLargestRatio, kLargestImage);
}

// Whether it was made of the very same build.
bool is_made_of(const ElfFile& image, const ElfFile& file) {
  return image.machine() == file.machine() && image.pointer_size() == file.pointer_size() &&
         image.endian() == file.endian() &&
         (image.build_id().empty() || image.build_id() == file.build_id());
}

MiniDebugInfo unpack(const ElfFile& file) {
  const ElfSection* section = file.section(".gnu_debugdata");
  if (section == nullptr) {
    return {};
  }
  const auto packed = file.contents(*section);
  Budget& budget = file.budget();
  const std::uint64_t left = budget.left(Cost::unpacked);
  const std::uint64_t room = std::min(left, packed ? most_of(*packed) : 0);
  auto image = room > 0 ? unpack_xz(*packed, room) : std::nullopt;
  budget.draw(Cost::unpacked, image ? image->size() : room);
  if (!image && room == left) {
    budget.cut(Cost::unpacked, 1);  // which tells that nothing is left
  }
  if (image) {
    try {
      auto found = ElfFile::from_memory(std::move(*image), file.path() + " (.gnu_debugdata)",
                                        &file.budget());
      if (is_made_of(*found, file)) {
        return {std::move(found), {}};
      }
    } catch (const Error&) {
      // Said below.
    }
  }
  return {nullptr, "The section .gnu_debugdata of " + file.path() +
                       " is damaged, too large or not for this file: it lends no names."};
}

}  // namespace

const MiniDebugInfo& mini_debug_info_of(const ElfFile& file) {
  return file.attachments().get<MiniDebugInfo>([&] { return unpack(file); });
}

const CallFrameInfo* packed_debug_frame_of(const ElfFile& file) {
  const MiniDebugInfo& packed = mini_debug_info_of(file);
  return packed.file != nullptr ? debug_frame_of(*packed.file) : nullptr;
}

std::array<const CallFrameInfo*, 3> frame_tables_of(const ElfFile& file) {
  return {eh_frame_of(file), debug_frame_of(file), packed_debug_frame_of(file)};
}

}  // namespace whocall
