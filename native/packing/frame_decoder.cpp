#include "packing/frame_decoder.h"

#include <array>

namespace whocall {

std::unique_ptr<FrameDecoder> decoder_of(Packing packing) {
  constexpr std::array kMakers{&zstd_decoder, &lz4_decoder, &xz_decoder, &gzip_decoder,
                               &bzip2_decoder};
  return kMakers[static_cast<std::size_t>(packing)]();
}

}  // namespace whocall
