// What a packed stream holds: its frames one after the other, in bounded memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "packing/byte_source.h"
#include "packing/frame_decoder.h"
#include "packing/packing.h"

namespace whocall {

// Frames without contents, one after the other, beyond which nothing more is expected: a million of
// them take a second and are 20 MB.
inline constexpr unsigned kMostEmptyFrames = 4096;

// Frames of one kind may follow each other, those of xz and gzip with zeros in between. What
// follows the last one and is none is left out, as `gzip -d` does. A stream that ends early or is
// damaged gives all that can be unpacked of it.
class UnpackedSource final : public ByteSource {
 public:
  // `packed` has to live as long as this.
  UnpackedSource(Packing packing, ByteSource& packed);

  std::size_t read(std::span<std::byte> room) override;
  [[nodiscard]] std::string damage() const override { return damage_; }

 private:
  [[nodiscard]] std::span<const std::byte> input() const;
  bool refill();
  void take_step(std::span<std::byte> room, std::size_t& made);
  void enter_next_frame();
  void end_with(std::string damage);

  Packing packing_;
  ByteSource& packed_;
  std::unique_ptr<FrameDecoder> decoder_;  // null at the end
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  // of what was not taken, in the buffer
  std::size_t end_ = 0;
  bool has_more_ = false;  // the decoder may, without more input
  bool filled_ = false;    // the present frame has contents
  unsigned empty_ = 0;     // frames before it that had none
  std::string damage_;
};

}  // namespace whocall
