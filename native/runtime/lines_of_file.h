// A file line by line, without the C library's buffers.
#pragma once

#include <cstddef>

namespace whocall::runtime {

class LinesOfFile {
 public:
  explicit LinesOfFile(const char* path);
  LinesOfFile(const LinesOfFile&) = delete;
  LinesOfFile& operator=(const LinesOfFile&) = delete;
  ~LinesOfFile();

  // The next line without its end, until the one after it is asked for; null behind the last. What
  // does not fit into 1 KiB is cut off.
  const char* next();

 private:
  // The next byte; -1 behind the last.
  int take();

  int file_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  char read_[1024];
  char line_[1024];
};

}  // namespace whocall::runtime
