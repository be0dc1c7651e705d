#include "object/xz.h"

#include <lzma.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/interrupt.h"

namespace whocall {
namespace {

struct EndDecoder {
  void operator()(lzma_stream* stream) const { lzma_end(stream); }
};

constexpr std::uint64_t kWorkingMemory = std::uint64_t{256} << 20;

// The output grows with what really arrives: nobody has to believe a size that the data claim.
bool unpack(lzma_stream& stream, std::uint64_t limit, std::vector<std::byte>& output) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::array<std::uint8_t, kPiece> piece{};
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    check_interrupt();
    stream.next_out = piece.data();
    stream.avail_out = piece.size();
    status = lzma_code(&stream, LZMA_FINISH);
    const std::size_t made = piece.size() - stream.avail_out;
    if (made > limit - output.size()) {
      return false;
    }
    const auto* begin = reinterpret_cast<const std::byte*>(piece.data());
    output.insert(output.end(), begin, begin + made);
  }
  return status == LZMA_STREAM_END;  // the end holds the check sums
}

}  // namespace

std::optional<std::vector<std::byte>> unpack_xz(ByteView packed, std::uint64_t limit) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kWorkingMemory, 0) != LZMA_OK) {
    return std::nullopt;
  }
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.bytes().data());
  stream.avail_in = packed.size();
  std::vector<std::byte> output;
  const std::unique_ptr<lzma_stream, EndDecoder> end(&stream);  // also when Ctrl-C ends it
  const bool good = unpack(stream, limit, output);
  return good ? std::optional(std::move(output)) : std::nullopt;
}

}  // namespace whocall
