#include <bzlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "packing/frame_decoder.h"

namespace whocall {
namespace {

unsigned counted_for_bzip2(std::size_t size) {
  return static_cast<unsigned>(std::min<std::size_t>(size, std::numeric_limits<unsigned>::max()));
}

class Bzip2Decoder final : public FrameDecoder {
 public:
  Bzip2Decoder() {
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) {
      throw std::bad_alloc();
    }
  }
  Bzip2Decoder(const Bzip2Decoder&) = delete;
  Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;
  ~Bzip2Decoder() override { BZ2_bzDecompressEnd(&stream_); }

  Step step(std::span<const std::byte> input, std::span<std::byte> room) override {
    const unsigned in = counted_for_bzip2(input.size());
    const unsigned out = counted_for_bzip2(room.size());
    stream_.next_in = reinterpret_cast<char*>(const_cast<std::byte*>(input.data()));
    stream_.avail_in = in;
    stream_.next_out = reinterpret_cast<char*>(room.data());
    stream_.avail_out = out;
    const int status = BZ2_bzDecompress(&stream_);
    if (status == BZ_MEM_ERROR) {
      throw std::bad_alloc();
    }
    const bool good = status == BZ_OK || status == BZ_STREAM_END;
    return {in - stream_.avail_in, out - stream_.avail_out, status == BZ_STREAM_END,
            good ? "" : "it is damaged"};
  }

 private:
  bz_stream stream_ = {};
};

}  // namespace

std::unique_ptr<FrameDecoder> bzip2_decoder() { return std::make_unique<Bzip2Decoder>(); }

}  // namespace whocall
