// What companions of stripped files are found by: packed images and debug links.
#include <doctest/doctest.h>
#include <lzma.h>

#include <string>
#include <string_view>
#include <vector>

#include "object/debug_link.h"
#include "object/xz.h"

using namespace whocall;

namespace {

std::vector<std::byte> packed(const std::string& text) {
  std::vector<std::uint8_t> out(lzma_stream_buffer_bound(text.size()));
  std::size_t size = 0;
  const auto* in = reinterpret_cast<const std::uint8_t*>(text.data());
  REQUIRE(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, nullptr, in, text.size(), out.data(), &size,
                                  out.size()) == LZMA_OK);
  const auto* begin = reinterpret_cast<const std::byte*>(out.data());
  return {begin, begin + size};
}

ByteView view(const std::vector<std::byte>& bytes) { return {bytes, Endian::little}; }

}  // namespace

TEST_CASE("xz: what was packed comes out, up to the limit and not beyond") {
  const std::string text(200000, 'a');
  const auto bytes = packed(text);
  const auto whole = unpack_xz(view(bytes), text.size());
  REQUIRE(whole);
  CHECK(whole->size() == text.size());
  CHECK(whole->back() == std::byte{'a'});
  CHECK_FALSE(unpack_xz(view(bytes), text.size() - 1));
}

TEST_CASE("xz: nothing comes out of damaged data") {
  const auto bytes = packed("some text that is not very long");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(unpack_xz(view({bytes.begin(), bytes.begin() + size}), 1000));
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{0x10};
    CHECK_FALSE(unpack_xz(view(damaged), 1000));
  }
}

TEST_CASE("debug link: the check sum is the one of the standard") {
  constexpr std::string_view kText = "123456789";
  const auto* begin = reinterpret_cast<const std::byte*>(kText.data());
  CHECK(debug_link_crc(ByteView({begin, kText.size()}, Endian::little)) == 0xcbf43926);
}
