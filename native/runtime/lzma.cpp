#include "runtime/lzma.h"

#include <cstring>

namespace whocall::runtime {
namespace {

constexpr std::uint16_t kEven = 1024;  // of 2048
constexpr std::uint32_t kSmallestRange = 1U << 24U;
constexpr std::size_t kShortest = 2;       // bytes of a match
constexpr std::size_t kLiteralStates = 7;  // states below this one follow a literal
constexpr std::uint32_t kNoDistance = ~std::uint32_t{0};

template <typename Bits>
void make_even(Bits& bits) {
  for (auto& each : bits) {
    if constexpr (sizeof each == sizeof kEven) {
      each = kEven;
    } else {
      make_even(each);
    }
  }
}

std::size_t big_endian(const std::uint8_t* bytes) { return std::size_t{bytes[0]} << 8U | bytes[1]; }

}  // namespace

bool Lzma2Decoder::decode(const std::uint8_t* input, std::size_t input_size, std::uint8_t* output,
                          std::size_t size, std::size_t& used) {
  input_ = input;
  input_end_ = input + input_size;
  output_ = output;
  at_ = 0;
  size_ = size;
  bool begun = false;  // properties are known
  while (input_ < input_end_) {
    const unsigned control = *input_++;
    if (control == 0) {
      used = static_cast<std::size_t>(input_ - input);
      return at_ == size_;
    }
    if (input_end_ - input_ < 5) {
      return false;
    }
    if (control < 0x80) {
      const std::size_t count = big_endian(input_) + 1;
      input_ += 2;
      if (control > 2 || !copy_plain(count)) {
        return false;
      }
      continue;
    }
    const std::size_t count = (std::size_t{control & 0x1fU} << 16U | big_endian(input_)) + 1;
    const std::size_t packed = big_endian(input_ + 2) + 1;
    input_ += 4;
    const unsigned reset = control >> 5U & 3U;
    if (reset >= 2) {
      begun = set_properties(*input_++);
    }
    if (reset >= 1) {
      reset_state();
    }
    if (!begun || !run(count, packed)) {
      return false;
    }
  }
  return false;
}

bool Lzma2Decoder::set_properties(std::uint8_t byte) {
  const unsigned literal_context = byte % 9;
  const unsigned literal_position = byte / 9 % 5;
  const unsigned position = byte / 45;
  literal_context_ = literal_context;
  literal_position_mask_ = (std::size_t{1} << literal_position) - 1;
  position_mask_ = (std::size_t{1} << position) - 1;
  return position <= 4 && literal_context + literal_position <= 4;
}

void Lzma2Decoder::reset_state() {
  state_ = 0;
  distances_ = {};
  make_even(is_match_);
  make_even(is_repeated_);
  make_even(is_other_);
  make_even(is_third_);
  make_even(is_fourth_);
  make_even(is_long_);
  make_even(slots_);
  make_even(far_);
  make_even(align_);
  make_even(literals_);
  for (Lengths* const each : {&match_lengths_, &repeated_lengths_}) {
    each->choice = kEven;
    each->second_choice = kEven;
    make_even(each->low);
    make_even(each->middle);
    make_even(each->high);
  }
}

bool Lzma2Decoder::copy_plain(std::size_t count) {
  if (count > size_ - at_ || count > static_cast<std::size_t>(input_end_ - input_)) {
    return false;
  }
  std::memcpy(output_ + at_, input_, count);
  input_ += count;
  at_ += count;
  return true;
}

bool Lzma2Decoder::start_range() {
  if (input_end_ - input_ < 5 || *input_ != 0) {
    return false;
  }
  range_ = ~std::uint32_t{0};
  code_ = 0;
  for (int i = 1; i < 5; ++i) {
    code_ = code_ << 8U | input_[i];
  }
  input_ += 5;
  return true;
}

bool Lzma2Decoder::run(std::size_t count, std::size_t packed) {
  if (count > size_ - at_ || packed > static_cast<std::size_t>(input_end_ - input_)) {
    return false;
  }
  const std::uint8_t* const whole_end = input_end_;
  const std::uint8_t* const end_of_chunk = input_ + packed;
  input_end_ = end_of_chunk;
  ok_ = start_range();
  const std::size_t end = at_ + count;
  while (ok_ && at_ < end) {
    const std::size_t position = at_ & position_mask_;
    if (bit(is_match_[state_][position]) == 0) {
      literal();
    } else {
      ok_ = match(end) && ok_;
    }
  }
  normalize();
  const bool whole = ok_ && input_ == end_of_chunk;
  input_end_ = whole_end;
  return whole;
}

void Lzma2Decoder::normalize() {
  if (range_ < kSmallestRange) {
    range_ <<= 8U;
    code_ = code_ << 8U | (input_ < input_end_ ? *input_ : 0U);
    ok_ = ok_ && input_ < input_end_;
    input_ += input_ < input_end_ ? 1 : 0;
  }
}

unsigned Lzma2Decoder::bit(Bit& probability) {
  normalize();
  const std::uint32_t bound = (range_ >> 11U) * probability;
  if (code_ < bound) {
    range_ = bound;
    probability = static_cast<Bit>(probability + ((2048U - probability) >> 5U));
    return 0;
  }
  range_ -= bound;
  code_ -= bound;
  probability = static_cast<Bit>(probability - (probability >> 5U));
  return 1;
}

unsigned Lzma2Decoder::tree(Bit* probabilities, unsigned bits) {
  unsigned node = 1;
  for (unsigned i = 0; i < bits; ++i) {
    node = node << 1U | bit(probabilities[node]);
  }
  return node - (1U << bits);
}

unsigned Lzma2Decoder::reverse_tree(Bit* probabilities, unsigned bits) {
  unsigned node = 1;
  unsigned value = 0;
  for (unsigned i = 0; i < bits; ++i) {
    const unsigned next = bit(probabilities[node]);
    node = node << 1U | next;
    value |= next << i;
  }
  return value;
}

unsigned Lzma2Decoder::direct(unsigned bits) {
  unsigned value = 0;
  for (unsigned i = 0; i < bits; ++i) {
    normalize();
    range_ >>= 1U;
    const unsigned next = code_ >= range_ ? 1 : 0;
    code_ -= next != 0 ? range_ : 0;
    value = value << 1U | next;
  }
  return value;
}

void Lzma2Decoder::literal() {
  const unsigned before = at_ == 0 ? 0 : output_[at_ - 1];
  const std::size_t context =
      ((at_ & literal_position_mask_) << literal_context_) + (before >> (8U - literal_context_));
  Bit* const probabilities = literals_.data() + 0x300 * context;
  unsigned node = 1;
  if (state_ >= kLiteralStates && distances_[0] < at_) {
    unsigned matched = output_[at_ - distances_[0] - 1];
    while (node < 0x100) {
      const unsigned expected = matched >> 7U & 1U;
      matched <<= 1U;
      const unsigned next = bit(probabilities[((1 + expected) << 8U) + node]);
      node = node << 1U | next;
      if (next != expected) {
        break;
      }
    }
  }
  while (node < 0x100) {
    node = node << 1U | bit(probabilities[node]);
  }
  output_[at_++] = static_cast<std::uint8_t>(node);
  state_ = state_ < 4 ? 0 : state_ < 10 ? state_ - 3 : state_ - 6;
}

std::size_t Lzma2Decoder::length(Lengths& lengths, std::size_t position) {
  if (bit(lengths.choice) == 0) {
    return kShortest + tree(lengths.low[position].data(), 3);
  }
  if (bit(lengths.second_choice) == 0) {
    return kShortest + 8 + tree(lengths.middle[position].data(), 3);
  }
  return kShortest + 16 + tree(lengths.high.data(), 8);
}

std::uint32_t Lzma2Decoder::distance(std::size_t length) {
  const std::size_t kind = length - kShortest < 3 ? length - kShortest : 3;
  const unsigned slot = tree(slots_[kind].data(), 6);
  if (slot < 4) {
    return slot;
  }
  const unsigned bits = (slot >> 1U) - 1;
  const std::uint32_t base = (2U | (slot & 1U)) << bits;
  if (slot < 14) {
    return base + reverse_tree(far_.data() + base - slot, bits);
  }
  return base + (direct(bits - 4) << 4U) + reverse_tree(align_.data(), 4);
}

bool Lzma2Decoder::match(std::size_t end) {
  const std::size_t position = at_ & position_mask_;
  std::size_t count = 0;
  if (bit(is_repeated_[state_]) != 0) {
    if (at_ == 0) {
      return false;
    }
    if (!repeated(position, count)) {
      return copy(1, end);
    }
  } else {
    distances_ = {0, distances_[0], distances_[1], distances_[2]};
    count = length(match_lengths_, position);
    state_ = state_ < kLiteralStates ? 7 : 10;
    distances_[0] = distance(count);
    if (distances_[0] == kNoDistance) {
      return false;
    }
  }
  return copy(count, end);
}

// Of a distance that was used before; false where it is one byte at the last distance.
bool Lzma2Decoder::repeated(std::size_t position, std::size_t& count) {
  if (bit(is_other_[state_]) == 0) {
    if (bit(is_long_[state_][position]) == 0) {
      state_ = state_ < kLiteralStates ? 9 : 11;
      return false;
    }
  } else {
    std::size_t which = 1;
    if (bit(is_third_[state_]) != 0) {
      which = 2 + bit(is_fourth_[state_]);
    }
    const std::uint32_t taken = distances_[which];
    for (; which != 0; --which) {
      distances_[which] = distances_[which - 1];
    }
    distances_[0] = taken;
  }
  count = length(repeated_lengths_, position);
  state_ = state_ < kLiteralStates ? 8 : 11;
  return true;
}

bool Lzma2Decoder::copy(std::size_t count, std::size_t end) {
  if (distances_[0] >= at_ || count > end - at_) {
    return false;
  }
  for (const std::size_t from = at_ - distances_[0] - 1, until = at_ + count; at_ < until;) {
    output_[at_] = output_[from + (at_ - (until - count))];
    ++at_;
  }
  return true;
}

}  // namespace whocall::runtime
