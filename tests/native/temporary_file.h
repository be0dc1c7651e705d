// A file of its own that goes away with the test.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace whocall {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& contents) {
    const int file = ::mkstemp(path_);
    REQUIRE(file >= 0);
    REQUIRE(::write(file, contents.data(), contents.size()) ==
            static_cast<ssize_t>(contents.size()));
    ::close(file);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_); }
  [[nodiscard]] std::string path() const { return path_; }

 private:
  char path_[32] = "/tmp/whocall-test-XXXXXX";
};

}  // namespace whocall
