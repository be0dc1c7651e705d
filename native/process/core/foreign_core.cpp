#include "process/core/foreign_core.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/byte_view.h"

namespace whocall {
namespace {

using namespace std::string_view_literals;

constexpr std::uint32_t kMachO32 = 0xfeedface;
constexpr std::uint32_t kMachO64 = 0xfeedfacf;
constexpr std::uint32_t kMachOCore = 4;  // mach_header.filetype
constexpr std::array kWindowsKernel = {"PAGEDU64"sv, "PAGEDUMP"sv};
constexpr std::array kSystems = {"FreeBSD"sv, "NetBSD"sv, "OpenBSD"sv, "DragonFly"sv};

// Either byte order.
std::string_view mach_o(std::span<const std::byte> head, Endian order) {
  const ByteView view(head, order);
  const auto magic = view.read<std::uint32_t>(0);
  if (magic != kMachO32 && magic != kMachO64) {
    return {};
  }
  const bool core = view.read<std::uint32_t>(12) == kMachOCore;
  return core ? "is a Mach-O core, as of macOS"sv : "is a Mach-O program of macOS"sv;
}

}  // namespace

std::string_view foreign_dump(std::span<const std::byte> head) {
  if (head.empty()) {
    return "is empty, as where there was no room to write it";
  }
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (std::ranges::any_of(kWindowsKernel, [&](auto magic) { return text.starts_with(magic); })) {
    return "is a crash dump of a Windows kernel";
  }
  const std::string_view found = mach_o(head, Endian::little);
  return found.empty() ? mach_o(head, Endian::big) : found;
}

std::string_view foreign_system(std::span<const ElfNote> notes) {
  for (const ElfNote& note : notes) {
    for (const std::string_view system : kSystems) {
      if (note.owner.starts_with(system)) {
        return system;
      }
    }
  }
  return {};
}

}  // namespace whocall
