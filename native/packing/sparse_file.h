// Keeps what is unpacked in a file in which pages of zeros are holes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "packing/byte_source.h"
#include "packing/unpack_limit.h"

namespace whocall {

// Bytes written one behind the other to an empty file, within the limit and the room on the disk.
class SparseFile {
 public:
  // The descriptor stays the caller's; `name` is what the bytes come from, for complaints.
  SparseFile(WritePlace place, std::string name);

  // Throws Error.
  void write(std::span<const std::byte> piece);
  // Makes the file as long as what was written, zeros at its end too; to be done once, also where
  // writing failed. Returns the size, bytes.
  std::uint64_t end();

 private:
  void put(std::span<const std::byte> run, std::uint64_t at);

  WritePlace place_;
  std::string name_;
  std::uint64_t limit_;
  std::uint64_t size_ = 0;
  std::uint64_t unseen_ = 0;  // bytes written since the disk was looked at
};

// Writes everything that comes out of `source`, and calls `on_piece` after each piece. Returns the
// size. Throws Error; the file is empty then.
std::uint64_t write_sparse(ByteSource& source, const WritePlace& place, const std::string& name,
                           const std::function<void()>& on_piece);

}  // namespace whocall
