#include "object/lsda.h"

#include "base/byte_reader.h"
#include "base/interrupt.h"
#include "object/encoded_pointer.h"

namespace whocall {

namespace {

std::vector<LandingPad> read_pads(ByteReader reader, const AddressRange& function,
                                  const PointerBases& bases, std::size_t& left) {
  std::vector<LandingPad> pads;
  Address landing_base = function.begin;
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
  for (; reader.ok() && reader.offset() < end && left != 0; --left) {
    check_interrupt_at(left, kManyEntries);
    const auto start = read_encoded_pointer(reader, encoding, bases);
    const auto length = read_encoded_pointer(reader, encoding, bases);
    const auto pad = read_encoded_pointer(reader, encoding, bases);
    reader.uleb();  // which actions to take
    if (!start || !length || !pad || !reader.ok()) {
      break;
    }
    const Address first = function.begin + *start;
    if (*pad != 0 && function.contains(first) && *length <= function.end - first) {
      pads.push_back({{first, first + *length}, landing_base + *pad});
    }
  }
  return pads;
}

}  // namespace

std::vector<LandingPad> landing_pads_of(const ElfFile& file, const Fde& fde, std::size_t& left) {
  if (!fde.exception_table) {
    return {};
  }
  const rules::PointerContext& context = fde.cie->context;
  const PointerBases bases{*fde.exception_table, context.text, context.data, context.word_size};
  return read_pads(ByteReader(file.at(bases.section)), fde.range, bases, left);
}

std::vector<LandingPad> landing_pads_of(const ElfFile& file, const ExidxEntry& entry,
                                        std::size_t& left) {
  if (!entry.exception_table) {
    return {};
  }
  const PointerBases bases{.section = *entry.exception_table, .pointer_size = file.pointer_size()};
  return read_pads(ByteReader(file.at(bases.section)), entry.range, bases, left);
}

}  // namespace whocall
