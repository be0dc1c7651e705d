// Coprocessors and vectors of ARM as steps of values.
#include <algorithm>

#include "arch/arm/value_steps.h"

namespace whocall::arm {

void ValueParts::coprocessor(std::uint32_t word) {
  const bool load = bit(word, 20);
  if (is(word, 0x0fe00000, 0x0c400000)) {  // two words to or from vector registers
    for (const Register each : {number(word, 12), number(word, 16)}) {
      load ? lose(each) : mix(each);
    }
  } else if (is(word, 0x0e000000, 0x0c000000)) {
    vectors(word);
  } else if (is(word, 0x0f000010, 0x0e000010)) {  // mcr, mrc, vmov
    load ? lose(number(word, 12)) : mix(number(word, 12));
  }
}

// vldr, vstr, vldm, vstm, vpush, vpop; those of other coprocessors count in their own ways.
void ValueParts::vectors(std::uint32_t word) {
  constexpr std::int64_t kMost = 255;  // bytes
  const Register base = number(word, 16);
  const bool load = bit(word, 20);
  const bool moves = bit(word, 21);
  const bool is_vector = bits(word, 9, 3) == 5;
  if (base == kPc) {
    return;
  }
  note(base, kWord);
  if (!is_vector) {
    load ? void() : store_somewhere();
    return moves ? compute(base, {base}) : void();
  }
  const std::int64_t amount = std::int64_t{bits(word, 0, 8)} * kWord;
  const std::int64_t distance = bit(word, 23) ? amount : -amount;
  const bool single = bit(word, 24) && !moves;
  const std::int64_t size = single ? (bit(word, 8) ? 8 : 4) : std::min(amount, kMost);
  const ValueAddress place = {.base = base, .offset = bit(word, 24) ? distance : 0};
  if (load) {
    out_.loads.push_back({place, static_cast<std::uint8_t>(size), false});
  } else {
    store(place, {}, static_cast<std::uint8_t>(size));
  }
  if (moves) {
    put(base, sum({.base = base, .offset = distance}, kWord));
  }
}

void ValueParts::elements(std::uint32_t word) {
  const Register base = number(word, 16);
  const Register index = number(word, 0);
  note(base, kWord);
  if (bit(word, 21)) {
    out_.loads.push_back({{.base = base}, kMuch, false});
  } else {
    store({.base = base}, {}, kMuch);
  }
  if (index == kPc) {
    return;
  }
  if (index != kSp) {
    note(index, kWord);
  }
  compute(base, {base});
}

}  // namespace whocall::arm
