// The bytes of a file or pipe that is open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "packing/byte_source.h"

namespace whocall {

class DescriptorSource final : public ByteSource {
 public:
  // From where it stands to its end. The descriptor stays the caller's; `name` is what to call it.
  DescriptorSource(int file, std::string name);
  // `size` bytes of a file from `offset` on, or what is there of them; where it stands is all the
  // same, and stays so.
  DescriptorSource(int file, std::string name, std::uint64_t offset, std::uint64_t size);

  std::size_t read(std::span<std::byte> room) override;

  // Bytes that were read, and how many there were at first: 0 where nobody knows, as of a pipe.
  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  int file_;
  std::string name_;
  std::optional<std::uint64_t> begin_;  // where a part is read
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace whocall
