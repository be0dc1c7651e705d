// Unpacks what the compressors write as one unit: a frame of zstd or lz4, a stream of xz or bzip2,
// a member of gzip. This is the one place that knows the compressors' own libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "packing/packing.h"

namespace whocall {

class FrameDecoder {
 public:
  FrameDecoder() = default;
  FrameDecoder(const FrameDecoder&) = delete;
  FrameDecoder& operator=(const FrameDecoder&) = delete;
  virtual ~FrameDecoder() = default;

  struct Step {
    std::size_t taken = 0;  // bytes of the input
    std::size_t made = 0;   // bytes of the room; those are good, whatever else is wrong
    bool ended = false;     // the frame: what follows is not its own
    std::string fault;      // why it goes no further; empty where nothing is wrong
  };
  // Goes on with what was not taken before. Takes or makes nothing where it needs more input.
  virtual Step step(std::span<const std::byte> input, std::span<std::byte> room) = 0;
};

// Memory beyond which a frame is refused: windows of zstd (as its own program does by default), and
// all that a stream of xz works in, of which `xz -9` needs a quarter.
inline constexpr std::uint64_t kLargestWindow = std::uint64_t{128} << 20U;
inline constexpr std::uint64_t kMostXzMemory = std::uint64_t{256} << 20U;

std::unique_ptr<FrameDecoder> decoder_of(Packing packing);

// decoder_of() of each.
std::unique_ptr<FrameDecoder> zstd_decoder();
std::unique_ptr<FrameDecoder> lz4_decoder();
std::unique_ptr<FrameDecoder> xz_decoder();
std::unique_ptr<FrameDecoder> gzip_decoder();
std::unique_ptr<FrameDecoder> bzip2_decoder();

}  // namespace whocall
