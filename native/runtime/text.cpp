#include "runtime/text.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace whocall::runtime {
namespace {

// What a pipe takes at once when it takes anything, bytes.
constexpr std::size_t kPiece = 4096;

// Whether it takes a piece without waiting. Where the kernel does not say, it is tried.
bool takes_more(Sink& to) {
  pollfd asked{.fd = to.fd, .events = POLLOUT, .revents = 0};
  int ready = 0;
  do {
    ready = poll(&asked, 1, to.patience);
  } while (ready < 0 && errno == EINTR);
  to.given_up = ready == 0;
  return !to.given_up;
}

}  // namespace

void write_all(Sink& to, const void* bytes, std::size_t size) {
  const bool waits = to.patience >= 0;
  const auto* at = static_cast<const char*>(bytes);
  while (size != 0 && to.is_wanted() && (!waits || takes_more(to))) {
    const ssize_t more = write(to.fd, at, waits && size > kPiece ? kPiece : size);
    if (more > 0) {
      at += more;
      size -= static_cast<std::size_t>(more);
    } else if (errno != EINTR && (errno != EAGAIN || !waits)) {
      return;
    }
  }
}

Line::~Line() {
  put('\n');
  write();
}

void Line::write() {
  const int kept = errno;
  write_all(to_, text_, size_);
  size_ = 0;
  errno = kept;
}

void Line::put(char letter) {
  if (size_ == kRoom) {
    write();
  }
  text_[size_++] = letter;
}

// What names of files and threads hold of control letters would end lines, or rule a terminal:
// those of ASCII, and U+0080 to U+009F, which are two bytes in UTF-8.
Line& Line::append(const char* text) {
  for (; *text != '\0'; ++text) {
    const auto byte = static_cast<unsigned char>(*text);
    const auto next = static_cast<unsigned char>(text[1]);
    const bool is_late = byte == 0xc2 && next >= 0x80 && next <= 0x9f;
    put((byte < ' ' && byte != '\t') || byte == 0x7f || is_late ? '?' : *text);
    text += is_late ? 1 : 0;
  }
  return *this;
}

Line& Line::name(const char* symbol) {
  for (; *symbol != '\0' && *symbol != '@'; ++symbol) {
    put(*symbol);
  }
  return *this;
}

Line& Line::append(const whocall_frame& frame) {
  if (frame.function != nullptr) {
    name(frame.function).append("+").hexadecimal(frame.function_offset);
  } else {
    append("?");
  }
  if (frame.module[0] != '\0') {
    append(" in ").append(frame.module).append("(+").hexadecimal(frame.offset).append(")");
  }
  return *this;
}

Line& Line::trust(whocall_trust trust) {
  constexpr const char* kWords[] = {"context", "cfi", "analysis", "frame-pointer"};
  return append(" [").append(kWords[trust]).append("]");
}

Line& Line::decimal(std::uint64_t number) {
  char digits[20];
  std::size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (count != 0) {
    put(digits[--count]);
  }
  return *this;
}

Line& Line::hexadecimal(std::uint64_t number, unsigned least_digits) {
  append("0x");
  unsigned shift = 60;
  while (shift >= 4 * least_digits && number >> shift == 0) {
    shift -= 4;
  }
  for (;; shift -= 4) {
    put("0123456789abcdef"[number >> shift & 15U]);
    if (shift == 0) {
      return *this;
    }
  }
}

Line& Line::bytes(const unsigned char* first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    put("0123456789abcdef"[first[i] >> 4U]);
    put("0123456789abcdef"[first[i] & 15U]);
  }
  return *this;
}

Line& Line::numbered(std::size_t number, const whocall_frame& frame) {
  append("#").decimal(number).append(number < 10 ? "  " : " ");
  hexadecimal(frame.address, 2 * sizeof(void*)).append(" ");
  if (frame.module[0] != '\0') {
    append(frame.module).append("(+").hexadecimal(frame.offset).append(") ");
  } else {
    append("? ");
  }
  if (frame.function != nullptr) {
    name(frame.function).append("+").hexadecimal(frame.function_offset);
  } else {
    append("?");
  }
  return trust(frame.trust);
}

}  // namespace whocall::runtime
