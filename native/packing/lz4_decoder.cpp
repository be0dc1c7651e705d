#include <lz4frame.h>

#include <new>

#include "packing/frame_decoder.h"

namespace whocall {
namespace {

class Lz4Decoder final : public FrameDecoder {
 public:
  Lz4Decoder() {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) != 0) {
      throw std::bad_alloc();
    }
  }
  Lz4Decoder(const Lz4Decoder&) = delete;
  Lz4Decoder& operator=(const Lz4Decoder&) = delete;
  ~Lz4Decoder() override { LZ4F_freeDecompressionContext(context_); }

  Step step(std::span<const std::byte> input, std::span<std::byte> room) override {
    std::size_t taken = input.size();
    std::size_t made = room.size();
    const std::size_t left =
        LZ4F_decompress(context_, room.data(), &made, input.data(), &taken, nullptr);
    if (LZ4F_isError(left) != 0) {  // the sizes may be what they were
      return {0, 0, false, LZ4F_getErrorName(left)};
    }
    return {taken, made, left == 0, {}};
  }

 private:
  LZ4F_dctx* context_ = nullptr;
};

}  // namespace

std::unique_ptr<FrameDecoder> lz4_decoder() { return std::make_unique<Lz4Decoder>(); }

}  // namespace whocall
