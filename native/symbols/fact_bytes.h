// How facts that are kept are written: numbers with the low byte first, texts behind their lengths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"

namespace whocall {

inline void put_number(std::vector<std::byte>& bytes, std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) {
    bytes.push_back(static_cast<std::byte>(value >> (8U * i)));
  }
}

inline void put_text(std::vector<std::byte>& bytes, std::string_view text) {
  put_number(bytes, text.size(), 4);
  const auto raw = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

// Empty where the bytes end before it does; then the reader has failed.
inline std::string read_text(ByteReader& reader) {
  const std::uint32_t size = reader.u32();
  const auto part = reader.view().slice(reader.offset(), size);
  reader.skip(size);
  return part && reader.ok()
             ? std::string(reinterpret_cast<const char*>(part->bytes().data()), size)
             : std::string();
}

}  // namespace whocall
