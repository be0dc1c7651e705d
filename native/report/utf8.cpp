#include "report/utf8.h"

#include <cstdint>
#include <cstring>

namespace whocall {
namespace {

struct Lead {
  std::size_t follow = 0;         // bytes that follow
  unsigned char least = 0x80;     // of the first of them
  unsigned char greatest = 0xbf;  // likewise
};

// Table 3-7 of the standard: neither overlong forms, surrogates, nor what is beyond the last plane.
Lead lead_of(unsigned char byte) {
  if (byte >= 0xc2 && byte <= 0xdf) {
    return {1};
  }
  if (byte >= 0xe0 && byte <= 0xef) {
    return {2, static_cast<unsigned char>(byte == 0xe0 ? 0xa0 : 0x80),
            static_cast<unsigned char>(byte == 0xed ? 0x9f : 0xbf)};
  }
  if (byte >= 0xf0 && byte <= 0xf4) {
    return {3, static_cast<unsigned char>(byte == 0xf0 ? 0x90 : 0x80),
            static_cast<unsigned char>(byte == 0xf4 ? 0x8f : 0xbf)};
  }
  return {};
}

// Bytes of the character, or of what is replaced by one, that begins the text.
std::size_t first_size(std::string_view bytes) {
  Lead lead = lead_of(static_cast<unsigned char>(bytes[0]));
  std::size_t size = 1;
  while (size <= lead.follow && size < bytes.size()) {
    const auto byte = static_cast<unsigned char>(bytes[size]);
    if (byte < lead.least || byte > lead.greatest) {
      break;
    }
    lead.least = 0x80;
    lead.greatest = 0xbf;
    ++size;
  }
  return size;
}

// Eight bytes at a time.
bool is_ascii(std::string_view bytes) {
  std::uint64_t all = 0;
  for (; bytes.size() >= sizeof all; bytes.remove_prefix(sizeof all)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    all |= word;
  }
  for (const char byte : bytes) {
    all |= static_cast<unsigned char>(byte);
  }
  return (all & 0x8080808080808080) == 0;
}

}  // namespace

std::size_t utf8_length(std::string_view bytes) {
  if (is_ascii(bytes)) {
    return bytes.size();
  }
  std::size_t length = 0;
  for (; !bytes.empty(); ++length) {
    bytes.remove_prefix(first_size(bytes));
  }
  return length;
}

}  // namespace whocall
