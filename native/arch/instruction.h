// What one machine instruction does to the things that unwinding follows: the stack pointer, copies
// of registers, words on the stack, and the flow of control. Everything else is left out.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "arch/operation.h"
#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

// One step of an instruction's effect; an instruction has up to a few of them, in order. Registers
// go by their DWARF numbers.
struct Effect {
  enum class Kind : std::uint8_t {
    set,          // destination = source + offset
    constant,     // destination = offset
    add,          // destination = source + index + offset
    subtract,     // destination = source - index + offset
    load,         // destination = the word at source + index + offset
    store,        // the word at destination + index + offset = source
    store_other,  // the word at destination + offset = something that is not followed
    clobber,      // destination = something that is not followed
    compare,      // destination and source are compared for a following conditional jump
  };
  Kind kind = Kind::clobber;
  Register destination = 0;
  Register source = 0;
  std::int64_t offset = 0;  // bytes
  // Of load and store: a register that is added `scale` times; 0 times: none. Of add and subtract:
  // the second operand.
  Register index = 0;
  std::uint8_t scale = 0;
};

struct Instruction {
  enum class Flow : std::uint8_t {
    next,               // goes on behind itself
    call,               // a call: comes back behind itself, caller-saved registers lost
    jump,               // to `target`
    branch,             // to `target` or on behind itself
    branch_if_unequal,  // the same, and behind itself the compared registers are equal
    indirect_jump,      // to where a register or a table says
    stop,               // returns, or never gets past itself
  };
  std::uint16_t size = 0;  // bytes; of a jump with the table of its targets behind it
  Flow flow = Flow::next;
  bool returns = false;             // stops because it goes back to the caller
  bool landing_pad = false;         // endbr and its kin: indirect calls and jumps arrive here
  bool padding = false;             // a nop of any length: fills the gap between functions
  std::optional<Address> target{};  // of a direct call or jump; same kind of address as asked with
  std::uint16_t popped = 0;         // bytes of arguments that a return drops
  bool is_whole = true;             // false: it does more than the list has room for
  std::uint8_t effect_count = 0;
  std::array<Effect, 12> effects{};

  [[nodiscard]] std::span<const Effect> list() const {
    return std::span(effects).first(effect_count);
  }
  void add(Effect effect) {
    is_whole = effect_count < effects.size();
    if (is_whole) {
      effects[effect_count++] = effect;
    }
  }
};

class InstructionDecoder {
 public:
  InstructionDecoder() = default;
  InstructionDecoder(const InstructionDecoder&) = delete;
  InstructionDecoder& operator=(const InstructionDecoder&) = delete;
  virtual ~InstructionDecoder() = default;

  // The instruction at the start of `code`, which stands at `address`; a miss when the bytes are
  // none.
  virtual std::optional<Instruction> decode(ByteView code, Address address) = 0;
  // The same instruction as assemblers write it: "mov rax, qword ptr [rsp + 8]"; empty for a miss.
  virtual std::string text(ByteView code, Address address) = 0;
  // The same with all its operands; a miss for bytes that are none.
  virtual std::optional<Operation> operation(ByteView /*code*/, Address /*address*/) {
    return std::nullopt;
  }
  // The targets of an indirect jump whose table stands in the code behind it; empty: not known.
  virtual std::vector<Address> table_targets(ByteView /*code*/, Address /*address*/) { return {}; }
  // The constants in the code that the instruction there reads; empty: it reads none.
  virtual AddressRange constants(ByteView /*code*/, Address /*address*/) { return {}; }
  // What pointers to the code at `address`, and symbols of it, have besides the address: ARM's bit
  // 0 for T32.
  virtual Address mode_bits(Address /*address*/) { return 0; }
};

// Null where the instruction set is not decoded.
inline std::unique_ptr<InstructionDecoder> decoder_for(const Architecture& arch,
                                                       const CodeReader& around = {}) {
  return arch.code.make_decoder != nullptr ? arch.code.make_decoder(around) : nullptr;
}

}  // namespace whocall
