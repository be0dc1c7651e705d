// Streams as the compressors themselves write them, and sources that hand them out piece by piece.
#pragma once

#include <bzlib.h>
#include <doctest/doctest.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "packing/byte_source.h"
#include "packing/packing.h"

namespace whocall::testing {

inline constexpr std::array kPackings{Packing::zstd, Packing::lz4, Packing::xz, Packing::gzip,
                                      Packing::bzip2};

// With the check sum that the format has.
inline std::string packed_by(Packing packing, std::string_view contents) {
  std::string made(contents.size() * 2 + 4096, '\0');
  std::size_t size = made.size();
  switch (packing) {
    case Packing::zstd: {
      ZSTD_CCtx* const context = ZSTD_createCCtx();
      ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
      size = ZSTD_compress2(context, made.data(), size, contents.data(), contents.size());
      ZSTD_freeCCtx(context);
      break;
    }
    case Packing::lz4: {
      LZ4F_preferences_t wanted = LZ4F_INIT_PREFERENCES;
      wanted.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
      size = LZ4F_compressFrame(made.data(), size, contents.data(), contents.size(), &wanted);
      break;
    }
    case Packing::xz: {
      std::size_t at = 0;
      REQUIRE(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, nullptr,
                                      reinterpret_cast<const std::uint8_t*>(contents.data()),
                                      contents.size(), reinterpret_cast<std::uint8_t*>(made.data()),
                                      &at, size) == LZMA_OK);
      size = at;
      break;
    }
    case Packing::gzip: {
      z_stream stream = {};
      REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(contents.data()));
      stream.avail_in = static_cast<uInt>(contents.size());
      stream.next_out = reinterpret_cast<Bytef*>(made.data());
      stream.avail_out = static_cast<uInt>(size);
      REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
      size = stream.total_out;
      deflateEnd(&stream);
      break;
    }
    case Packing::bzip2: {
      auto at = static_cast<unsigned>(size);
      REQUIRE(BZ2_bzBuffToBuffCompress(made.data(), &at, const_cast<char*>(contents.data()),
                                       static_cast<unsigned>(contents.size()), 1, 0, 0) == BZ_OK);
      size = at;
      break;
    }
  }
  REQUIRE(size <= made.size());
  made.resize(size);
  return made;
}

// A text whose parts are repeated, and numbers that are not.
inline std::string some_contents(std::size_t size) {
  std::string made;
  unsigned number = 12345;
  while (made.size() < size) {
    number = number * 1103515245U + 12345U;
    made += number % 3 == 0 ? "said again and again, " : std::to_string(number);
  }
  made.resize(size);
  return made;
}

class TextSource final : public ByteSource {
 public:
  // Hands out at most `piece` bytes at once.
  explicit TextSource(std::string text, std::size_t piece = 4096, std::string damage = {})
      : text_(std::move(text)), piece_(piece), damage_(std::move(damage)) {}

  std::size_t read(std::span<std::byte> room) override {
    const std::size_t size = std::min({room.size(), piece_, text_.size() - at_});
    std::copy_n(std::as_bytes(std::span(text_)).begin() + static_cast<std::ptrdiff_t>(at_), size,
                room.begin());
    at_ += size;
    return size;
  }
  [[nodiscard]] std::string damage() const override { return damage_; }

 private:
  std::string text_;
  std::size_t piece_;
  std::string damage_;
  std::size_t at_ = 0;
};

// All that comes, read into rooms of so many bytes.
inline std::string all_of(ByteSource& source, std::size_t room = 5000) {
  std::vector<std::byte> bytes(room);
  std::string made;
  while (const std::size_t size = source.read(bytes)) {
    made.append(reinterpret_cast<const char*>(bytes.data()), size);
  }
  CHECK(source.read(bytes) == 0);  // and ever after
  return made;
}

}  // namespace whocall::testing
