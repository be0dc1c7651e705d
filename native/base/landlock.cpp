#include "base/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace whocall {
namespace {

// <linux/landlock.h>, of which most systems have one that is older than their kernel.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kPathBeneath = 1;

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t network = 0;  // since version 4
  std::uint64_t scoped = 0;   // since version 6
};

struct __attribute__((packed)) PathBeneath {
  std::uint64_t allowed;
  std::int32_t parent;
};

constexpr std::uint64_t kExecute = 1 << 0;
constexpr std::uint64_t kWriteFile = 1 << 1;
// Directories and files removed; devices, directories, files, sockets, FIFOs and links made.
constexpr std::uint64_t kMake = 0x1ff << 4;
constexpr std::uint64_t kRefer = 1 << 13;  // from one directory to another
constexpr std::uint64_t kTruncate = 1 << 14;
constexpr std::uint64_t kDevices = 1 << 15;  // ioctl(2) on them
constexpr std::uint64_t kBind = 1 << 0;
constexpr std::uint64_t kConnect = 1 << 1;
constexpr std::uint64_t kSocketsAndSignals = 3;

std::uint64_t writing(int version) {
  return kWriteFile | kMake | (version >= 2 ? kRefer : 0) | (version >= 3 ? kTruncate : 0);
}

Ruleset given_up(int version, const LandlockRights& rights) {
  Ruleset result;
  result.files =
      writing(version) | (rights.programs ? 0 : kExecute) | (version >= 5 ? kDevices : 0);
  result.network = version >= 4 ? kBind | (rights.network ? 0 : kConnect) : 0;
  result.scoped = version >= 6 ? kSocketsAndSignals : 0;
  return result;
}

void allow_writing(int ruleset, const std::string& path, std::uint64_t allowed) {
  const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0) {
    return;
  }
  struct stat status {};
  if (::fstat(file, &status) == 0) {
    const bool is_directory = S_ISDIR(status.st_mode);
    const PathBeneath rule{is_directory ? allowed : allowed & (kWriteFile | kTruncate), file};
    ::syscall(kAddRule, ruleset, kPathBeneath, &rule, 0U);
  }
  ::close(file);
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(kCreateRuleset, nullptr, std::size_t{0}, kAskVersion);
  return version < 0 ? 0 : static_cast<int>(version);
}

bool restrict_by_landlock(const LandlockRights& rights) {
  const int version = landlock_version();
  if (version < 1) {
    return false;
  }
  const Ruleset attributes = given_up(version, rights);
  const auto ruleset =
      static_cast<int>(::syscall(kCreateRuleset, &attributes, sizeof attributes, 0U));
  if (ruleset < 0) {
    return false;
  }
  for (const std::string& path : rights.writable) {
    allow_writing(ruleset, path, writing(version));
  }
  allow_writing(ruleset, "/dev/null", writing(version));
  const bool taken = ::syscall(kRestrictSelf, ruleset, 0U) == 0;
  ::close(ruleset);
  return taken;
}

}  // namespace whocall
