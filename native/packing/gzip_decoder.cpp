#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "packing/frame_decoder.h"

namespace whocall {
namespace {

constexpr int kGzipAlone = 31;  // a window of 32 KiB, and a header of gzip's before it

// zlib counts in 32 bits.
uInt counted_for_zlib(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

class GzipDecoder final : public FrameDecoder {
 public:
  GzipDecoder() {
    if (inflateInit2(&stream_, kGzipAlone) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;
  ~GzipDecoder() override { inflateEnd(&stream_); }

  Step step(std::span<const std::byte> input, std::span<std::byte> room) override {
    const uInt in = counted_for_zlib(input.size());
    const uInt out = counted_for_zlib(room.size());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    stream_.avail_in = in;
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    Step result{in - stream_.avail_in, out - stream_.avail_out, status == Z_STREAM_END, {}};
    if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    }
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      result.fault = stream_.msg == nullptr ? "it is damaged" : stream_.msg;
    }
    return result;
  }

 private:
  z_stream stream_ = {};
};

}  // namespace

std::unique_ptr<FrameDecoder> gzip_decoder() { return std::make_unique<GzipDecoder>(); }

}  // namespace whocall
