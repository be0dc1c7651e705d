#include "object/debug_link.h"

#include <zlib.h>

#include <algorithm>
#include <string_view>

#include "base/interrupt.h"

namespace whocall {

std::optional<DebugLink> debug_link_of(const ElfFile& file) {
  const ElfSection* section = file.section(".gnu_debuglink");
  const auto contents = section != nullptr ? file.contents(*section) : std::nullopt;
  if (!contents) {
    return std::nullopt;
  }
  const std::string_view text(reinterpret_cast<const char*>(contents->bytes().data()),
                              contents->size());
  const std::size_t length = text.find('\0');
  if (length == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view name = text.substr(0, length);
  const auto crc = contents->read<std::uint32_t>((length + 4) / 4 * 4);
  if (!crc || name.empty() || name == "." || name == ".." ||
      name.find('/') != std::string_view::npos) {
    return std::nullopt;
  }
  return DebugLink{std::string(name), *crc};
}

std::uint32_t debug_link_crc(ByteView contents) {
  uLong crc = 0;
  for (auto rest = contents.bytes(); !rest.empty();) {  // debug files have gigabytes
    check_interrupt();
    const auto piece = rest.first(std::min(rest.size(), kManyBytes));
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    rest = rest.subspan(piece.size());
  }
  return static_cast<std::uint32_t>(crc);
}

}  // namespace whocall
