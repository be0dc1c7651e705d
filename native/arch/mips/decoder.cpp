#include "arch/mips/decoder.h"

#include <algorithm>

#include "arch/assembly_text.h"
#include "arch/library_operation.h"
#include "arch/mips/forms.h"

namespace whocall::mips {
namespace {

using Flow = Instruction::Flow;
using Kind = Effect::Kind;

constexpr std::uint8_t kWidth = 4;  // bytes

std::optional<std::uint32_t> word_at(ByteView code, std::uint64_t at, Endian order) {
  const auto word = code.read<std::uint32_t>(at);
  return word && code.endian() != order ? std::optional(swap_bytes(*word)) : word;
}

// A branch of the "likely" kind runs its slot only where it is taken: what the slot writes is not
// known behind it.
Effect perhaps(Effect effect) {
  const bool stores = effect.kind == Kind::store || effect.kind == Kind::store_other;
  effect.kind = stores ? Kind::store_other : Kind::clobber;
  effect.scale = 0;
  return effect;
}

bool writes(const Effect& effect, Register number) {
  const bool stores = effect.kind == Kind::store || effect.kind == Kind::store_other;
  return !stores && effect.kind != Kind::compare && effect.destination == number;
}

cs_mode library_mode(const Dialect& dialect) {
  const auto mode = (dialect.wide_registers ? CS_MODE_MIPS64 : CS_MODE_MIPS32) |
                    (dialect.endian == Endian::big ? CS_MODE_BIG_ENDIAN : CS_MODE_LITTLE_ENDIAN);
  return static_cast<cs_mode>(mode);
}

}  // namespace

std::optional<Instruction> Decoder::decode(ByteView code, Address address) {
  const auto word = word_at(code, 0, dialect_.endian);
  Instruction first;
  Form form{dialect_, address};
  if (!word || !form.read(*word, first)) {
    return std::nullopt;
  }
  first.size = kWidth;
  if (!form.has_slot) {
    return first;
  }
  const auto behind = word_at(code, kWidth, dialect_.endian);
  Instruction slot;
  Form slot_form{dialect_, address + kWidth};
  if (!behind || !slot_form.read(*behind, slot) || slot_form.has_slot) {
    return std::nullopt;
  }
  // The slot's effects come first, though what the branch looks at it has read before.
  Instruction unit = first;
  unit.size = 2 * kWidth;
  unit.effect_count = 0;
  for (const Effect& effect : slot.list()) {
    unit.add(form.is_likely ? perhaps(effect) : effect);
  }
  for (const Effect& effect : first.list()) {
    const bool spoilt =
        effect.kind == Kind::compare && std::ranges::any_of(slot.list(), [&](const Effect& other) {
          return writes(other, effect.destination) || writes(other, effect.source);
        });
    if (!spoilt) {
      unit.add(effect);
    } else if (unit.flow == Flow::branch_if_unequal) {
      unit.flow = Flow::branch;
    }
  }
  return unit;
}

std::string Decoder::text(ByteView code, Address address) {
  return assembly_text(CS_ARCH_MIPS, library_mode(dialect_), code, address);
}

std::optional<Operation> Decoder::operation(ByteView code, Address address) {
  return library_operation(CS_ARCH_MIPS, library_mode(dialect_), code, address);
}

}  // namespace whocall::mips
