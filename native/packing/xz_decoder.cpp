#include <lzma.h>

#include <new>

#include "packing/frame_decoder.h"

namespace whocall {
namespace {

std::string fault_of_xz(lzma_ret status) {
  switch (status) {
    case LZMA_OK:
    case LZMA_STREAM_END:
    case LZMA_BUF_ERROR:  // it wants more input
      return {};
    case LZMA_MEM_ERROR:
      throw std::bad_alloc();
    case LZMA_MEMLIMIT_ERROR:
      return "it needs more than " + std::to_string(kMostXzMemory >> 20U) + " MiB of memory";
    case LZMA_OPTIONS_ERROR:
      return "it is packed in a way that liblzma does not know";
    default:
      return "it is damaged";
  }
}

class XzDecoder final : public FrameDecoder {
 public:
  XzDecoder() {
    if (lzma_stream_decoder(&stream_, kMostXzMemory, 0) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;
  ~XzDecoder() override { lzma_end(&stream_); }

  Step step(std::span<const std::byte> input, std::span<std::byte> room) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
    stream_.avail_in = input.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(room.data());
    stream_.avail_out = room.size();
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    return {input.size() - stream_.avail_in, room.size() - stream_.avail_out,
            status == LZMA_STREAM_END, fault_of_xz(status)};
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<FrameDecoder> xz_decoder() { return std::make_unique<XzDecoder>(); }

}  // namespace whocall
