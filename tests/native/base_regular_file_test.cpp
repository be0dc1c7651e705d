// Only regular files are opened; what else lies at a path is not even touched.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/regular_file.h"
#include "process_core_builder.h"

namespace whocall::testing {
namespace {

// Tells whether somebody opened a file.
class Watch {
 public:
  explicit Watch(const std::string& path) : events_(::inotify_init1(IN_NONBLOCK)) {
    REQUIRE(::inotify_add_watch(events_.get(), path.c_str(), IN_OPEN) >= 0);
  }
  [[nodiscard]] bool was_opened() const {
    std::array<char, 4096> events{};
    return ::read(events_.get(), events.data(), events.size()) > 0;
  }

 private:
  Descriptor events_;
};

std::string fifo_in(const TemporaryDirectory& directory) {
  std::string path = directory.path() + "/fifo";
  REQUIRE(::mkfifo(path.c_str(), S_IRWXU) == 0);
  return path;
}

TEST_CASE("regular files: a fifo is not opened, so its writer loses nothing") {
  const TemporaryDirectory directory;
  const std::string path = fifo_in(directory);
  const Watch watch(path);
  CHECK_THROWS_AS((void)MappedFile::open(path), Error);
  const RegularFile found = try_regular(path);
  CHECK(found.number < 0);
  CHECK(found.error == 0);
  CHECK(S_ISFIFO(found.status.st_mode));
  CHECK_FALSE(watch.was_opened());
}

TEST_CASE("regular files: one is opened, through links too, with its status") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", {std::byte{1}, std::byte{2}});
  const std::string link = directory.path() + "/link";
  REQUIRE(::symlink(path.c_str(), link.c_str()) == 0);
  const Watch watch(path);
  struct stat status {};
  const Descriptor file(open_regular(link, status));
  CHECK(status.st_size == 2);
  CHECK(watch.was_opened());
  std::array<char, 4> bytes{};
  CHECK(::read(file.get(), bytes.data(), bytes.size()) == 2);
}

TEST_CASE("regular files: what is not there is told by its error") {
  const TemporaryDirectory directory;
  CHECK(try_regular(directory.path() + "/none").error == ENOENT);
  CHECK(try_regular(directory.path() + "/" + std::string(300, 'x')).error == ENAMETOOLONG);
  struct stat status {};
  CHECK_THROWS_AS((void)open_regular(directory.path(), status), Error);
}

}  // namespace
}  // namespace whocall::testing
