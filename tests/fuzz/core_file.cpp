// Hostile core files: opening one throws Error or gives an image whose threads can all be walked.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "process/process_image.h"
#include "unwind/walk/walker.h"

namespace {

using namespace whocall;

// One file in memory-backed storage for the whole run, rewritten each time.
class Scratch {
 public:
  Scratch() {
    char path[] = "/dev/shm/whocall-fuzz-XXXXXX";
    file_ = ::mkstemp(path);
    if (file_ < 0) {
      std::perror("/dev/shm");
      std::abort();
    }
    path_ = path;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::remove(path_.c_str()); }
  bool write(const std::uint8_t* data, std::size_t size) const {
    return ::ftruncate(file_, 0) == 0 &&
           ::pwrite(file_, data, size, 0) == static_cast<ssize_t>(size);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  int file_ = -1;
  std::string path_;
};

void walk_all(const ProcessImage& process) {
  Walker walker(process);
  WalkOptions options;
  options.max_frames = 200;
  options.explain = true;
  std::size_t budget = 20;
  for (const Thread& thread : process.threads) {
    if (budget-- == 0) {
      break;
    }
    if (walker.walk(thread, options).frames.empty()) {
      __builtin_trap();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  if (!scratch.write(data, size)) {
    return 0;
  }
  FileSearch search;
  search.sysroot = "/nonexistent";  // a core must not lead the fuzzer to files of this machine
  try {
    walk_all(*open_core(scratch.path(), search));
  } catch (const Error&) {
  }
  return 0;
}
