// Lines of text, written without the C library's buffers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/whocall.h"

namespace whocall::runtime {

// A file descriptor that bytes are written to.
struct Sink {
  int fd = -1;
  int patience =
      -1;  // milliseconds that nobody may read before it is given up; -1: as write() does
  bool given_up = false;

  [[nodiscard]] bool is_wanted() const { return fd >= 0 && !given_up; }
};

// Writes all, as far as it can be written.
void write_all(Sink& to, const void* bytes, std::size_t size);

// Collects a line and writes it, with its end, when it goes; one write where it is not very long.
class Line {
 public:
  explicit Line(int fd) : own_{.fd = fd}, to_(own_) {}
  explicit Line(Sink& to) : to_(to) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line();

  Line& append(const char* text);
  // Without the version that linkers write behind some names ("@@GLIBC_2.34").
  Line& name(const char* symbol);
  // "function+0x9 in module(+0x1139)", as far as it is known.
  Line& append(const whocall_frame& frame);
  // "#0  0x0000555555555139 module(+0x1139) function+0x9 [cfi]"; "?" for what is not known.
  Line& numbered(std::size_t number, const whocall_frame& frame);
  Line& trust(whocall_trust trust);  // " [cfi]"
  Line& decimal(std::uint64_t number);
  Line& hexadecimal(std::uint64_t number, unsigned least_digits = 1);  // with "0x"
  Line& bytes(const unsigned char* first, std::size_t count);          // as digits, without "0x"

 private:
  void put(char letter);
  void write();

  static constexpr std::size_t kRoom = 512;  // bytes
  Sink own_;
  Sink& to_;
  std::size_t size_ = 0;
  char text_[kRoom];
};

}  // namespace whocall::runtime
