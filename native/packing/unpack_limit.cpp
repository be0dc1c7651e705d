#include "packing/unpack_limit.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/regular_file.h"
#include "base/text_lines.h"

namespace whocall {
namespace {

constexpr std::uint64_t kLargestFileSize = std::numeric_limits<off_t>::max();

std::uint64_t shift_of(char unit) {
  constexpr std::string_view kUnits = "KMGT";
  const auto upper = static_cast<char>(static_cast<unsigned char>(unit) & ~0x20U);
  const std::size_t found = kUnits.find(upper);
  return found == std::string_view::npos ? 0 : 10 * (found + 1);
}

[[noreturn]] void fail_as_too_large(const std::string& name) {
  const std::uint64_t more = std::max<std::uint64_t>((unpack_limit() >> 30U) * 4, 1);
  throw Error(name, "unpacks to more than " + std::to_string(unpack_limit() >> 20U) + " MiB",
              std::string("If that is right, allow it: ") + kUnpackLimitVariable + "=" +
                  std::to_string(more) + "G");
}

bool has_name(int file) {
  struct stat status = {};
  return file >= 0 && ::fstat(file, &status) == 0 && status.st_nlink > 0;
}

std::string folder_of_open(int file) {
  std::array<char, PATH_MAX> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  const std::string path(target.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return path.substr(0, path.rfind('/'));
}

}  // namespace

std::uint64_t unpack_limit() {
  const char* const setting = std::getenv(kUnpackLimitVariable);
  const std::string_view text = setting == nullptr ? "" : setting;
  if (text.empty()) {
    return kUnpackLimit;
  }
  const std::uint64_t shift = shift_of(text.back());
  const auto count = number(shift == 0 ? text : text.substr(0, text.size() - 1), 10);
  if (!count) {
    throw Error(kUnpackLimitVariable, "is '" + std::string(text) + "'",
                "Give a number of bytes, such as 200G");
  }
  return *count > kLargestFileSize >> shift ? kLargestFileSize : *count << shift;
}

void require_size(std::uint64_t size, const std::string& name) {
  if (size > unpack_limit()) {
    fail_as_too_large(name);
  }
}

void require_room(std::uint64_t size, const std::string& name, const WritePlace& place) {
  require_size(size, name);
  struct statvfs disk = {};
  const int told =
      place.file < 0 ? ::statvfs(place.folder.c_str(), &disk) : ::fstatvfs(place.file, &disk);
  if (told != 0) {
    fail_with(place.folder, "cannot be asked for its free space", errno);
  }
  const std::uint64_t spare = has_name(place.file) ? 0 : kSpareRoom;
  if (std::uint64_t{disk.f_bavail} * disk.f_frsize < size + spare) {
    fail_to_write(name, place, ENOSPC);
  }
}

void fail_to_write(const std::string& name, const WritePlace& place, int error) {
  if (error != ENOSPC && error != EDQUOT && error != EFBIG) {
    fail_with(name, "cannot be unpacked", error);
  }
  const bool named = has_name(place.file);
  throw Error(
      name,
      "cannot be unpacked: " + (named ? folder_of_open(place.file) : place.folder) + " is full",
      std::string("Free some space, or ") +
          (named ? "write to another folder" : "name another folder in TMPDIR"));
}

}  // namespace whocall
