// The only header that includes bfd.h, and what makes libbfd fit to be called.
#pragma once

// bfd.h refuses to be included by a program that does not say what it is.
#define PACKAGE "whocall"
#define PACKAGE_VERSION "1"
#include <bfd.h>

#include <memory>
#include <mutex>
#include <string>

namespace whocall {

// libbfd keeps its last error and its caches in globals: one call at a time.
std::mutex& bfd_mutex();

// What libbfd says of the last call that failed.
std::string bfd_error_text();

struct BfdCloser {
  void operator()(bfd* file) const { bfd_close_all_done(file); }
};
using BfdHandle = std::unique_ptr<bfd, BfdCloser>;

// Opens an object file of any format. Throws Error. The caller holds the mutex.
BfdHandle open_bfd(const std::string& path);

}  // namespace whocall
