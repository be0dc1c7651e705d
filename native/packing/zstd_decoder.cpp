#include <zstd.h>

#include <bit>
#include <new>

#include "packing/frame_decoder.h"

namespace whocall {
namespace {

class ZstdDecoder final : public FrameDecoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) {
      throw std::bad_alloc();
    }
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, std::bit_width(kLargestWindow) - 1);
  }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }

  Step step(std::span<const std::byte> input, std::span<std::byte> room) override {
    ZSTD_inBuffer from{input.data(), input.size(), 0};
    ZSTD_outBuffer into{room.data(), room.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context_, &into, &from);
    Step result{from.pos, into.pos, left == 0, {}};
    if (ZSTD_isError(left) != 0) {
      result.ended = false;
      result.fault = ZSTD_getErrorName(left);
    }
    return result;
  }

 private:
  ZSTD_DCtx* context_;
};

}  // namespace

std::unique_ptr<FrameDecoder> zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

}  // namespace whocall
