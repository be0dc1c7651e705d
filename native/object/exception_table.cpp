#include "object/exception_table.h"

#include "base/byte_reader.h"
#include "object/pointer_encoding.h"

namespace whocall {

std::vector<LandingPad> landing_pads_of(const ElfFile& file, const Fde& fde) {
  std::vector<LandingPad> pads;
  if (!fde.exception_table) {
    return pads;
  }
  ByteReader reader(file.at(*fde.exception_table));
  PointerBases bases = fde.cie->bases;
  bases.section = *fde.exception_table;
  Address landing_base = fde.range.begin;
  const std::uint8_t base_encoding = reader.u8();
  if (base_encoding != pointer_encoding::kOmit) {
    const auto base = read_encoded_pointer(reader, base_encoding, bases);
    if (!base) {
      return pads;
    }
    landing_base = *base;
  }
  if (reader.u8() != pointer_encoding::kOmit) {
    reader.uleb();  // where the type table ends
  }
  const std::uint8_t encoding = reader.u8();
  const std::uint64_t size = reader.uleb();
  if (!reader.ok() || size > reader.remaining()) {
    return pads;
  }
  const std::uint64_t end = reader.offset() + size;
  while (reader.ok() && reader.offset() < end) {
    const auto start = read_encoded_pointer(reader, encoding, bases);
    const auto length = read_encoded_pointer(reader, encoding, bases);
    const auto pad = read_encoded_pointer(reader, encoding, bases);
    reader.uleb();  // which actions to take
    if (!start || !length || !pad || !reader.ok()) {
      break;
    }
    const Address first = fde.range.begin + *start;
    if (*pad != 0 && fde.range.contains(first) && *length <= fde.range.end - first) {
      pads.push_back({{first, first + *length}, landing_base + *pad});
    }
  }
  return pads;
}

}  // namespace whocall
