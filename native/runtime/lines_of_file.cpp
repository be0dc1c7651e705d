#include "runtime/lines_of_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace whocall::runtime {

LinesOfFile::LinesOfFile(const char* path) : file_(open(path, O_RDONLY | O_CLOEXEC)) {}

LinesOfFile::~LinesOfFile() {
  if (file_ >= 0) {
    close(file_);
  }
}

int LinesOfFile::take() {
  if (at_ == size_) {
    const ssize_t more = file_ < 0 ? 0 : read(file_, read_, sizeof read_);
    at_ = 0;
    size_ = more > 0 ? static_cast<std::size_t>(more) : 0;
    if (size_ == 0) {
      return -1;
    }
  }
  return static_cast<unsigned char>(read_[at_++]);
}

const char* LinesOfFile::next() {
  int letter = take();
  if (letter < 0) {
    return nullptr;
  }
  std::size_t size = 0;
  for (; letter >= 0 && letter != '\n'; letter = take()) {
    if (size + 1 < sizeof line_) {
      line_[size++] = static_cast<char>(letter);
    }
  }
  line_[size] = '\0';
  return line_;
}

}  // namespace whocall::runtime
