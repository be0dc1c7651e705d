// LZMA2, the compression inside .xz files, into memory that is large enough from the start: then
// the dictionary is what has been written. Nothing is allocated.
// Source: the LZMA specification of the LZMA SDK (Igor Pavlov, public domain); "The .xz File
// Format", 5.3.1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace whocall::runtime {

class Lzma2Decoder {
 public:
  // The chunks at `input`, until the one that ends them. True where they fill `output` exactly up
  // to `size`; `used` is then how many bytes they had.
  bool decode(const std::uint8_t* input, std::size_t input_size, std::uint8_t* output,
              std::size_t size, std::size_t& used);

 private:
  using Bit = std::uint16_t;  // the probability of a 0, of 2048

  static constexpr std::size_t kStates = 12;
  static constexpr std::size_t kPositions = 16;  // of a position's low bits

  struct Lengths {
    Bit choice;
    Bit second_choice;
    std::array<std::array<Bit, 8>, kPositions> low;
    std::array<std::array<Bit, 8>, kPositions> middle;
    std::array<Bit, 256> high;
  };

  bool set_properties(std::uint8_t byte);
  void reset_state();
  bool copy_plain(std::size_t count);
  bool run(std::size_t count, std::size_t packed);
  bool start_range();

  void normalize();
  unsigned bit(Bit& probability);
  unsigned tree(Bit* probabilities, unsigned bits);
  unsigned reverse_tree(Bit* probabilities, unsigned bits);
  unsigned direct(unsigned bits);
  void literal();
  std::size_t length(Lengths& lengths, std::size_t position);
  std::uint32_t distance(std::size_t length);
  bool match(std::size_t end);
  bool repeated(std::size_t position, std::size_t& count);
  bool copy(std::size_t count, std::size_t end);

  const std::uint8_t* input_ = nullptr;
  const std::uint8_t* input_end_ = nullptr;
  std::uint8_t* output_ = nullptr;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  bool ok_ = true;

  std::uint32_t range_ = 0;
  std::uint32_t code_ = 0;
  unsigned literal_context_ = 0;
  std::size_t literal_position_mask_ = 0;
  std::size_t position_mask_ = 0;
  std::size_t state_ = 0;
  std::array<std::uint32_t, 4> distances_{};

  std::array<std::array<Bit, kPositions>, kStates> is_match_{};
  std::array<Bit, kStates> is_repeated_{};
  std::array<Bit, kStates> is_other_{};   // than the last distance
  std::array<Bit, kStates> is_third_{};   // or more, not the second
  std::array<Bit, kStates> is_fourth_{};  // not the third
  std::array<std::array<Bit, kPositions>, kStates> is_long_{};
  std::array<std::array<Bit, 64>, 4> slots_{};
  std::array<Bit, 128> far_{};
  std::array<Bit, 16> align_{};
  Lengths match_lengths_{};
  Lengths repeated_lengths_{};
  std::array<Bit, std::size_t{0x300} << 4U> literals_{};
};

}  // namespace whocall::runtime
