// What ARM instructions do to the things that unwinding follows, in A32 and T32.
#pragma once

#include "arch/arm/modes.h"
#include "arch/instruction.h"

namespace whocall::arm {

class Decoder final : public InstructionDecoder {
 public:
  // Tables between instructions are in the order of `data`.
  explicit Decoder(const CodeReader& around, Endian data = Endian::little)
      : around_(around), data_(data), modes_(around) {}
  std::optional<Instruction> decode(ByteView code, Address address) override;
  std::string text(ByteView code, Address address) override;
  std::optional<Operation> operation(ByteView code, Address address) override;
  std::vector<Address> table_targets(ByteView code, Address address) override;
  AddressRange constants(ByteView code, Address address) override;
  Address mode_bits(Address address) override { return modes_.is_thumb(address) ? 1 : 0; }

 private:
  CodeReader around_;
  Endian data_;
  ModesAround modes_;
};

// In a mode that is known.
std::optional<Instruction> decode(ByteView code, Address address, bool thumb,
                                  Endian data = Endian::little);
AddressRange constants_read(ByteView code, Address address, bool thumb);  // see `constants`

}  // namespace whocall::arm
