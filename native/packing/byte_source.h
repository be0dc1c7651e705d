// Bytes that come one after the other: of a file, of a pipe, out of what is packed.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace whocall {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Fills `room`, which is not empty, with what comes next. Returns how many bytes these are, which
  // may be fewer than come altogether; 0 at the end, and ever after. Throws Error where the file
  // cannot be read.
  virtual std::size_t read(std::span<std::byte> room) = 0;

  // At the end, why it is no good one: "it ends in the middle". What came before is good. Empty
  // where nothing is missing.
  [[nodiscard]] virtual std::string damage() const { return {}; }
};

// As many bytes as fit and are there.
std::size_t read_fully(ByteSource& source, std::span<std::byte> room);

}  // namespace whocall
