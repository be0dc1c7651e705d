#include "files/debuginfod.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "process_core_builder.h"

namespace whocall {
namespace {

// What DEBUGINFOD_URLS says, for as long as the object lives.
class Servers {
 public:
  explicit Servers(const char* urls) {
    if (urls == nullptr) {
      ::unsetenv("DEBUGINFOD_URLS");
    } else {
      ::setenv("DEBUGINFOD_URLS", urls, 1);
    }
    ::setenv("DEBUGINFOD_CACHE_PATH", cache_.path().c_str(), 1);
  }
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;
  ~Servers() {
    ::unsetenv("DEBUGINFOD_URLS");
    ::unsetenv("DEBUGINFOD_CACHE_PATH");
  }

 private:
  testing::TemporaryDirectory cache_;
};

const std::string kBuildId(40, 'a');

}  // namespace

TEST_CASE("without a server debuginfod says so, and nobody is asked") {
  const Servers none(nullptr);
  int watched = 0;
  Debuginfod debuginfod({[&] { ++watched; }, {}});
  const FetchedFile found = debuginfod.debug_info(kBuildId, "/bin/prog");
  CHECK(found.file == nullptr);
  CHECK(found.remark.find("DEBUGINFOD_URLS") != std::string::npos);
  CHECK(watched == 0);
}

TEST_CASE("a server that is not there costs a sentence") {
  const Servers nobody("http://127.0.0.1:1");
  Debuginfod debuginfod({});
  const FetchedFile found = debuginfod.executable(kBuildId, "/bin/prog");
  CHECK(found.file == nullptr);
  CHECK(found.remark.find("http://127.0.0.1:1") != std::string::npos);
  CHECK(found.remark.find("executable for /bin/prog") != std::string::npos);
}

TEST_CASE("what the watch throws ends the fetch and goes through") {
  const Servers nobody("http://127.0.0.1:1");
  Debuginfod debuginfod({[] { throw std::runtime_error("stop"); }, {}});
  CHECK_THROWS_WITH_AS((void)debuginfod.debug_info(kBuildId, "/bin/prog"), "stop",
                       std::runtime_error);
}

}  // namespace whocall
