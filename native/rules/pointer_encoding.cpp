#include "rules/pointer_encoding.h"

namespace whocall::rules {
namespace {

using pointer_encoding::kAligned;
using pointer_encoding::kBaseMask;
using pointer_encoding::kDataRelative;
using pointer_encoding::kFormatMask;
using pointer_encoding::kIndirect;
using pointer_encoding::kPcRelative;
using pointer_encoding::kTextRelative;

bool find_base(unsigned encoding, std::uint64_t field, const PointerContext& context,
               std::uint64_t& base) {
  switch (encoding & kBaseMask) {
    case 0:
    case kAligned:
      base = 0;
      return true;
    case kPcRelative:
      base = field;
      return true;
    case kTextRelative:
      base = context.text;
      return base != 0;
    case kDataRelative:
      base = context.data;
      return base != 0;
    default:
      return false;  // function-relative never stands where we read
  }
}

std::uint64_t wrapped(std::uint64_t address, unsigned word_size) {
  return word_size >= 8 ? address : address & ((std::uint64_t{1} << (8 * word_size)) - 1);
}

void align(ByteCursor& cursor, unsigned encoding, unsigned word_size) {
  if ((encoding & kBaseMask) == kAligned) {
    const std::uint64_t past = cursor.address() % word_size;
    cursor.skip(past == 0 ? 0 : word_size - past);
  }
}

}  // namespace

bool read_pointer(ByteCursor& cursor, unsigned encoding, const PointerContext& context,
                  std::uint64_t& value) {
  align(cursor, encoding, context.word_size);
  const std::uint64_t field = cursor.address();
  const std::uint64_t written = cursor.number(encoding, context.word_size);
  std::uint64_t base = 0;
  if (!cursor.ok() || (written != 0 && !find_base(encoding, field, context, base))) {
    return false;
  }
  // A null pointer stays null whatever it is relative to, as in libgcc.
  value = written == 0 ? 0 : wrapped(base + written, context.word_size);
  if ((encoding & kIndirect) == 0) {
    return true;
  }
  ByteCursor word(cursor.span().part(value, context.word_size));
  value = word.word(context.word_size);
  return word.ok();
}

bool skip_pointer(ByteCursor& cursor, unsigned encoding, const PointerContext& context) {
  align(cursor, encoding, context.word_size);
  cursor.number(encoding & kFormatMask, context.word_size);
  return cursor.ok();
}

}  // namespace whocall::rules
