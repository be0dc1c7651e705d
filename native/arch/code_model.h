// Machine code: what an instruction set can tell about bytes of it, one question a function.
//
// Where every instruction is one aligned word, fixed_width.h answers most of them from a decoder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "arch/placed_operands.h"
#include "arch/registers.h"
#include "base/address.h"
#include "base/byte_view.h"
#include "base/code_reader.h"

namespace whocall {

// The call instruction that ends at a return address.
struct CallSite {
  std::uint8_t size = 0;            // bytes of the call instruction
  bool indirect = false;            // the target is a register or lies in memory
  std::optional<Address> target{};  // of a direct call, runtime address
  std::optional<Address> slot{};    // runtime address of the word that holds an indirect call's
                                    // target, when the instruction names it (pc-relative, absolute)
};

// A jump instruction and where it goes.
struct DirectJump {
  Address source = 0;
  Address target = 0;
};

// What code alone tells about starts of functions: addresses, in no order and with repetitions.
struct StartMarks {
  std::vector<Address> call_targets;   // of what looks like a direct call anywhere
  std::vector<Address> landing_pads;   // of indirect calls and jumps
  std::vector<Address> address_taken;  // by instructions
  std::vector<Address> prologues;      // the usual first instructions, where no jump leads
  std::vector<Address> aligned;        // other code behind padding, where no jump leads
  std::vector<Address> data_taken;     // outside the code: tables of switch cases among them
};

// What a place in code looks like.
struct StartFeatures {
  bool behind_end = false;  // padding stands before it, or what never goes on behind itself
  bool prologue = false;  // it begins as functions do, by pushing or by lowering the stack pointer
  bool landing_pad = false;  // indirect calls and jumps may arrive
  bool catches = false;      // it is a landing pad for exceptions
  bool leaves = false;  // a landing pad that does no more than jump to where no function begins
};

// The global offset table: what position-independent code that cannot name its own address counts
// distances to data from, and whose words it loads.
struct GlobalTable {
  Address address = 0;  // 0: not known
  CodeReader read{};    // bytes of the file, the table among them; empty: not known
  // What the register holds that programs set at their beginning alone, to count from.
  std::optional<Address> pointer{};
};

// An instruction that takes the address of constant data.
struct ConstantAddress {
  Address at = 0;     // of the instruction; where it stands in a delay slot, of the whole unit
  Address value = 0;  // what it takes; addresses of the same kind
  // Where it puts that: in a register or, where there is none, in the word at sp + offset, sp being
  // what the instruction leaves.
  std::optional<Register> destination{};
  std::int64_t offset = 0;  // bytes
  // The word of the global offset table that it loads the address from, which may not be the one
  // that the loader puts there.
  std::optional<Address> slot{};
};

class InstructionDecoder;  // instruction.h
class ValueReader;         // value_flow.h
struct ReturnPath;         // return_path.h

// No question about what stands before an address needs more of it.
inline constexpr std::size_t kLongestLook = 16;  // bytes

struct CodeModel {
  // Bits of a code pointer that are address; the rest is a signature or a mode bit.
  Address pointer_mask = ~Address{0};
  // What compilers align the starts of functions to, as a rule; parts of functions they do not.
  unsigned function_alignment = 16;  // bytes
  std::uint8_t alignment = 1;        // of instructions, bytes

  // The call that ends at the end of `before`, whose last byte lies just below `return_address`
  // (runtime address). A miss when no call instruction ends there. `before` holds up to
  // `longest_call` bytes.
  std::optional<CallSite> (*call_before)(ByteView before, Address return_address) = nullptr;
  std::uint8_t longest_call = 0;  // bytes, at most kLongestLook

  // Appends what the bytes of `code`, which begins at `address`, tell about starts of functions
  // inside it. One pass; the same kind of address throughout.
  void (*append_start_marks)(ByteView code, Address address, StartMarks& marks) = nullptr;
  // Looks at offset `at` of `code`.
  StartFeatures (*features_at_start)(ByteView code, std::uint64_t at) = nullptr;

  // Appends the addresses of tables that indirect jumps in `code` name: arrays of pointers to the
  // cases of a switch, not to functions.
  void (*append_jump_tables)(ByteView code, std::vector<Address>& tables) = nullptr;

  // Whether the flow cannot come from the end of `before` into what follows: a return or padding
  // stands there.
  bool (*flow_ends)(ByteView before) = nullptr;

  // Appends what looks like a direct jump into `wanted` anywhere in `code`, which begins at
  // `address`; short jumps, which never leave a function, are left out.
  void (*append_direct_jumps)(ByteView code, Address address, AddressRange wanted,
                              std::vector<DirectJump>& jumps) = nullptr;

  // Appends the instructions in `code`, which begins at `address`, that take an address in
  // `wanted`, or load a word of the global offset table; some of them are only bytes of others.
  // `fixed`: the code runs where it was linked, and so may name addresses outright; in other code
  // such numbers are no addresses.
  void (*append_constant_addresses)(ByteView code, Address address, const GlobalTable& got,
                                    bool fixed, AddressRange wanted,
                                    std::vector<ConstantAddress>& found) = nullptr;
  // Appends the addresses in `wanted` that any operand in `code` may name, likewise; unordered,
  // with repetitions.
  void (*append_named_addresses)(ByteView code, Address address, const GlobalTable& got, bool fixed,
                                 AddressRange wanted, std::vector<Address>& found) = nullptr;
  // The register that position-independent code calls functions through, all of them (MIPS: t9).
  std::optional<Register> callee{};
  // A decoder of instructions for the analysis of code without unwind tables. Where bytes may be
  // read in several ways (ARM: A32 and T32), what stands around them, by `around`, tells in which;
  // it may be empty.
  std::unique_ptr<InstructionDecoder> (*make_decoder)(const CodeReader& around) = nullptr;

  // A reader of what instructions do with values, likewise; null where arguments are not followed.
  std::unique_ptr<ValueReader> (*make_value_reader)(const CodeReader& around) = nullptr;

  // A reader of operands that linking decides; null where functions of other builds are not told.
  std::unique_ptr<PlacedReader> (*make_placed_reader)(const PlacedImage& image) = nullptr;

  // How the code at offset `at` of a function, whose bytes are `code` and which begins at `address`
  // (runtime), goes back to its caller; a miss where that is not followed.
  std::optional<ReturnPath> (*return_path)(ByteView code, Address address,
                                           std::uint64_t at) = nullptr;
};

}  // namespace whocall
