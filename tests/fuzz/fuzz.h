// What the fuzzers share: how an input is divided, what has to hold, files in memory.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/architecture.h"
#include "base/byte_view.h"

namespace whocall::fuzz {

inline void demand(bool holds) {
  if (!holds) {
    __builtin_trap();
  }
}

// Takes an input apart from its beginning on; behind its end all is 0.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(std::as_bytes(std::span(data, size))) {}

  std::span<const std::byte> take(std::size_t size) {
    const auto part = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(part.size());
    return part;
  }
  std::uint8_t byte() {
    const auto part = take(1);
    return part.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(part[0]);
  }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= std::uint64_t{byte()} << (8 * i);
    }
    return value;
  }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(rest_.data()), rest_.size()};
  }
  // The rest in memory of its own, so that who reads beyond it is seen.
  [[nodiscard]] std::vector<std::byte> copy() const { return {rest_.begin(), rest_.end()}; }

 private:
  std::span<const std::byte> rest_;
};

// One file for the whole run, rewritten each time: in $TMPDIR, else in memory.
class Scratch {
 public:
  Scratch() {
    const char* const folder = std::getenv("TMPDIR");
    path_ = std::string(folder == nullptr ? "/dev/shm" : folder) + "/whocall-fuzz-XXXXXX";
    file_ = ::mkstemp(path_.data());
    if (file_ < 0) {
      std::perror(path_.c_str());
      std::abort();
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::remove(path_.c_str()); }

  [[nodiscard]] bool write(std::span<const std::byte> bytes) const {
    return ::ftruncate(file_, 0) == 0 &&
           ::pwrite(file_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  int file_ = -1;
  std::string path_;
};

// The smallest file that loads `code` at an address: an ELF header and one segment, no sections.
inline std::vector<std::byte> elf_around(const Architecture& arch, std::span<const std::byte> code,
                                         Address address) {
  const bool wide = arch.abi.pointer_size == 8;
  const std::size_t segment = wide ? 64 : 52;
  std::vector<std::byte> image(segment + (wide ? 56 : 32));
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = arch.abi.endian == Endian::little ? i : size - 1 - i;
      image[at + place] = static_cast<std::byte>(value >> (8 * i));
    }
  };
  const std::size_t word = arch.abi.pointer_size;
  std::memcpy(image.data(), "\177ELF", 4);
  put(4, wide ? 2 : 1, 1);
  put(5, arch.abi.endian == Endian::little ? 1 : 2, 1);
  put(6, 1, 1);
  put(16, 3, 2);
  put(18, arch.abi.elf_machine, 2);
  put(20, 1, 4);
  put(24, address + code.size() / 2, word);
  put(24 + word, segment, word);
  put(wide ? 52 : 40, segment, 2);
  put(wide ? 54 : 42, wide ? 56 : 32, 2);
  put(wide ? 56 : 44, 1, 2);
  put(segment, 1, 4);
  put(segment + (wide ? 4 : 24), 5, 4);
  put(segment + (wide ? 8 : 4), image.size(), word);
  put(segment + (wide ? 16 : 8), address, word);
  put(segment + (wide ? 32 : 16), code.size(), word);
  put(segment + (wide ? 40 : 20), code.size(), word);
  image.insert(image.end(), code.begin(), code.end());
  return image;
}

}  // namespace whocall::fuzz
