// How much may be unpacked, and how much of the disk stays free.
#pragma once

#include <cstdint>
#include <string>

namespace whocall {

// The setting: bytes, or with K, M, G or T behind the number more of them.
inline constexpr const char* kUnpackLimitVariable = "WHOCALL_UNPACK_LIMIT";
inline constexpr std::uint64_t kUnpackLimit = std::uint64_t{64} << 30U;  // without it; holes count
inline constexpr std::uint64_t kSpareRoom = std::uint64_t{256} << 20U;   // bytes that stay free

// Bytes that a file may unpack to. Throws Error where the setting is no number.
std::uint64_t unpack_limit();

// Throws Error where so many bytes are more than what `name` may unpack to.
void require_size(std::uint64_t size, const std::string& name);

// Where something is written.
struct WritePlace {
  int file = -1;       // of a descriptor; -1: files in the folder
  std::string folder;  // where files without a name are made
};

// Throws Error where so many bytes are not to be written; `name` is what they come from. Where
// nobody asked for a file by its name, some space stays free.
void require_room(std::uint64_t size, const std::string& name, const WritePlace& place);

// Throws Error for what went wrong with `error` as `name` was written there.
[[noreturn]] void fail_to_write(const std::string& name, const WritePlace& place, int error);

}  // namespace whocall
