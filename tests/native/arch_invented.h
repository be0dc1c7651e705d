// An instruction set that nobody builds, with all that x86 is not: big-endian, instructions of one
// width with delay slots, a link register, the return address saved in the caller's frame, and
// frames that are linked by back chains. A caller leaves two words to its callee at its stack
// pointer: its own link, and room for the return address; the CFA lies above them.
//
// Registers: r0 to r3 are scratch, r4 to r9 belong to the caller, r12 is the frame pointer, r13 the
// stack pointer, r14 the link register, which unwind tables give the number that POWER's has; the
// pc is number 16.
#pragma once

#include "arch/architecture.h"
#include "base_bytes.h"

namespace whocall::test {

extern const Architecture kInvented;

// Its assembler. Jumps and calls have a delay slot: the instruction behind them runs before the
// target does.
class InventedCode {
 public:
  static constexpr unsigned kFp = 12;
  static constexpr unsigned kSp = 13;
  static constexpr unsigned kLink = 14;
  static constexpr Register kLinkInTables = 65;

  explicit InventedCode(Address begin) : begin_(begin) {}

  InventedCode& nop() { return put(0x00, 0, 0, 0); }
  InventedCode& add(unsigned to, unsigned from, int amount) { return put(0x01, to, from, amount); }
  InventedCode& load(unsigned to, unsigned base, int at) { return put(0x02, to, base, at); }
  InventedCode& store(unsigned from, unsigned base, int at) { return put(0x03, from, base, at); }
  // Stores sp at sp + at, and adds `at` to it: makes a frame, and links it to the one before.
  InventedCode& link_frame(int at) { return put(0x05, kSp, kSp, at); }
  InventedCode& call(Address target) { return aim(0x10, target); }
  InventedCode& jump(Address target) { return aim(0x11, target); }
  InventedCode& branch(Address target) { return aim(0x12, target); }
  InventedCode& jump_register(unsigned to) { return put(0x13, to, 0, 0); }
  InventedCode& call_register(unsigned to) { return put(0x14, to, 0, 0); }
  InventedCode& system_call(unsigned number) { return put(0x20, 0, 0, static_cast<int>(number)); }
  InventedCode& up_to(Address address) {
    while (here() < address) {
      put(0xff, 0, 0, 0);  // illegal
    }
    return *this;
  }

  [[nodiscard]] Address here() const { return begin_ + bytes_.size(); }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  InventedCode& put(unsigned opcode, unsigned a, unsigned b, int value) {
    bytes_.u8(opcode).u8(a << 4U | b).u16(static_cast<std::uint16_t>(value));
    return *this;
  }
  InventedCode& aim(unsigned opcode, Address target) {
    bytes_.u32(opcode << 24U | ((target - here()) / 4 & 0xffffffU));
    return *this;
  }

  Address begin_;
  Bytes bytes_{Endian::big};
};

}  // namespace whocall::test
