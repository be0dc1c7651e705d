#include "arch/arm/decoder.h"

#include "arch/arm/fields.h"
#include "arch/arm/tables.h"
#include "arch/assembly_text.h"
#include "arch/library_operation.h"

namespace whocall::arm {

std::optional<Instruction> decode(ByteView code, Address address, bool thumb, Endian data) {
  Instruction out;
  if (!(thumb ? read_t32(code, address, out) : read_a32(code, address, out))) {
    return std::nullopt;
  }
  if (thumb && out.flow == Instruction::Flow::indirect_jump) {
    out.size = static_cast<std::uint16_t>(out.size + length_by_cases(code, data));
  }
  return out;
}

// Instructions name constants that stand at most this far before them.
AddressRange constants_read(ByteView code, Address address, bool thumb) {
  constexpr Address kFarthest = 4096 + 8;  // bytes
  const auto words = [&](Address distance, unsigned count) {
    const Address first = data_base(address, thumb) + distance;
    return first - address < kFarthest ? AddressRange{first, first + Address{4} * count}
                                       : AddressRange{};
  };
  const std::uint32_t half = thumb ? half_at(code, 0).value_or(0) : 0;
  if (thumb && is(half, 0xf800, 0x4800)) {
    return words(Address{bits(half, 0, 8)} * 4, 1);
  }
  const std::uint32_t word =
      thumb ? half << 16U | half_at(code, 2).value_or(0) : word_at(code, 0).value_or(0);
  const bool load = thumb ? is(word, 0xffff0000, 0xf8df0000) : is(word, 0x0fff0000, 0x059f0000);
  if (load) {
    return words(bits(word, 0, 12), 1);
  }
  const bool vector = is(word, 0x0fbf0e00, 0x0d9f0a00) && (!thumb || bits(word, 28, 4) == 0xe);
  return vector ? words(Address{bits(word, 0, 8)} * 4, bit(word, 8) ? 2 : 1) : AddressRange{};
}

std::vector<Address> Decoder::table_targets(ByteView /*code*/, Address address) {
  return case_table(around_, address, modes_.is_thumb(address), data_).targets;
}

AddressRange Decoder::constants(ByteView code, Address address) {
  const bool thumb = modes_.is_thumb(address);
  const bool jump = thumb && is(half_at(code, 0).value_or(0), 0xff87, 0x4700);
  return jump ? case_table(around_, address, true, data_).words
              : constants_read(code, address, thumb);
}

// A jump with its table is one instruction.
std::optional<Instruction> Decoder::decode(ByteView code, Address address) {
  const bool thumb = modes_.is_thumb(address);
  auto out = arm::decode(code, address, thumb, data_);
  if (out && thumb && out->flow == Instruction::Flow::indirect_jump) {
    const AddressRange words = case_table(around_, address, true, data_).words;
    if (words.begin == address + 4) {
      out->size = static_cast<std::uint16_t>(4 + words.size());
    }
  }
  return out;
}

namespace {

cs_mode library_mode(bool thumb) {
  return static_cast<cs_mode>((thumb ? CS_MODE_THUMB : CS_MODE_ARM) | CS_MODE_LITTLE_ENDIAN);
}

}  // namespace

std::string Decoder::text(ByteView code, Address address) {
  return assembly_text(CS_ARCH_ARM, library_mode(modes_.is_thumb(address)), code, address);
}

std::optional<Operation> Decoder::operation(ByteView code, Address address) {
  return library_operation(CS_ARCH_ARM, library_mode(modes_.is_thumb(address)), code, address);
}

}  // namespace whocall::arm
