// A stretch of a file as a stream, unpacked where it is packed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "packing/descriptor_source.h"
#include "packing/headed_source.h"
#include "packing/unpack_limit.h"
#include "packing/unpacked_source.h"

namespace whocall {

class FilePart final : public ByteSource {
 public:
  // `size` bytes of the file from `offset` on, or what is there of them. The descriptor stays the
  // caller's; `name` is what to call it. Throws Error.
  FilePart(int file, std::string name, std::uint64_t offset, std::uint64_t size);

  std::size_t read(std::span<std::byte> room) override { return plain_->read(room); }
  [[nodiscard]] std::string damage() const override { return plain_->damage(); }

  // Passes over so many bytes; false where they are not all there.
  bool skip(std::uint64_t size);
  // Writes all that was not read to the empty file. Returns its size, bytes. Throws Error.
  std::uint64_t write(const WritePlace& place);

 private:
  DescriptorSource file_;
  HeadedSource headed_;
  std::optional<UnpackedSource> unpacked_;
  ByteSource* plain_;
};

}  // namespace whocall
