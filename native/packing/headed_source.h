// A source whose first bytes can be looked at before they are read.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "packing/byte_source.h"

namespace whocall {

class HeadedSource final : public ByteSource {
 public:
  // Reads up to `size` bytes at once. `source` has to live as long as this.
  HeadedSource(ByteSource& source, std::size_t size) : source_(source), head_(size) {
    head_.resize(read_fully(source, head_));
  }

  [[nodiscard]] std::span<const std::byte> head() const { return head_; }

  std::size_t read(std::span<std::byte> room) override;
  [[nodiscard]] std::string damage() const override { return source_.damage(); }

 private:
  ByteSource& source_;
  std::vector<std::byte> head_;
  std::size_t given_ = 0;  // bytes of it
};

}  // namespace whocall
