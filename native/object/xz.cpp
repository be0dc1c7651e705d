#include "object/xz.h"

#include <array>

#include "base/interrupt.h"
#include "packing/frame_decoder.h"

namespace whocall {

// The output grows with what really arrives: nobody has to believe a size that the data claim.
std::optional<std::vector<std::byte>> unpack_xz(ByteView packed, std::uint64_t limit) {
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  std::array<std::byte, kPiece> piece;
  const auto decoder = decoder_of(Packing::xz);
  std::span<const std::byte> rest = packed.bytes();
  std::vector<std::byte> output;
  while (true) {
    check_interrupt();
    const FrameDecoder::Step step = decoder->step(rest, piece);
    if (!step.fault.empty() || step.made > limit - output.size()) {
      return std::nullopt;
    }
    output.insert(output.end(), piece.begin(), piece.begin() + step.made);
    rest = rest.subspan(step.taken);
    if (step.ended) {  // the end holds the check sums
      return output;
    }
    if (step.taken == 0 && step.made == 0) {
      return std::nullopt;
    }
  }
}

}  // namespace whocall
