// What an instruction set is, as data. To add one: write a file like x86_64.cpp beside this one
// and give it a row in architectures.cpp. Nothing else changes.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arch/relocation_form.h"
#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

// A register by its DWARF number in the architecture's psABI.
using Register = std::uint16_t;

// Registers that the walk can follow have DWARF numbers below this. Enough for every instruction
// set in the list (ppc64's link register is 65, the s390x pc 65); vector registers lie beyond.
inline constexpr Register kRegisterLimit = 72;

// The values of one activation's registers, by DWARF number; unknown where nobody saved them.
class Registers {
 public:
  [[nodiscard]] std::optional<std::uint64_t> get(Register number) const {
    return known(number) ? std::optional(values_[number]) : std::nullopt;
  }
  [[nodiscard]] bool known(Register number) const {
    return number < kRegisterLimit && known_[number];
  }
  void set(Register number, std::uint64_t value) {
    if (number < kRegisterLimit) {
      values_[number] = value;
      known_[number] = true;
    }
  }
  void forget(Register number) {
    if (number < kRegisterLimit) {
      known_[number] = false;
    }
  }

 private:
  std::array<std::uint64_t, kRegisterLimit> values_{};
  std::bitset<kRegisterLimit> known_;
};

// Where one register lies in a block of saved registers, in bytes from the block's start.
struct SavedRegister {
  Register number = 0;
  std::uint32_t offset = 0;
  std::uint8_t size = 8;
};

// The layout of the kernel's struct elf_prstatus (NT_PRSTATUS) on this instruction set.
struct PrstatusLayout {
  std::uint32_t size = 0;            // of the whole note, bytes
  std::uint32_t signal_offset = 12;  // pr_cursig, 16 bits
  std::uint32_t lwp_offset = 0;      // pr_pid, 32 bits
  std::uint32_t registers_offset = 0;
  std::uint32_t registers_size = 0;            // of pr_reg: what PTRACE_GETREGSET gives as well
  std::span<const SavedRegister> registers{};  // offsets count from pr_reg
};

// The frame that the conventional prologue leaves behind, as offsets from the frame pointer:
//   (sp, fp, pc) = (fp + cfa_offset, *(fp + saved_fp_offset), *(fp + return_address_offset))
struct FramePointerLayout {
  std::int32_t cfa_offset = 0;
  std::int32_t saved_fp_offset = 0;
  std::int32_t return_address_offset = 0;
};

// A place in the saved registers whose content the kernel leaves no choice: flags, segments.
struct ContextMark {
  std::uint32_t offset = 0;  // bytes from the context
  std::uint8_t size = 0;     // bytes
  std::uint64_t mask = 0;    // the bits that are always the same
  std::uint64_t value = 0;   // and what they are
};

// What the kernel left on the stack when it called a signal handler, as seen from the trampoline
// that the handler returns to: the trampoline's code, and where the interrupted registers lie.
struct SignalTrampoline {
  std::string_view name;                       // for -explain
  std::span<const std::uint8_t> code;          // the instructions, from the trampoline's start
  std::int32_t context_offset = 0;             // bytes from sp to the context
  bool context_is_pointer = false;             // the word there is the context's address
  std::span<const SavedRegister> registers{};  // offsets count from the context
  std::span<const ContextMark> marks{};        // empty: nothing can be checked
};

// How a new thread begins, in the function that asks the kernel for it: the code of the system call
// that makes it, and of the one that ends it, behind the call of the thread's own function.
struct ThreadStart {
  std::span<const std::uint8_t> make;
  std::span<const std::uint8_t> end;
};

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

// Where a jump stub (PLT entry, thunk, tail jump) goes: a fixed target, or the word that holds it.
struct JumpStub {
  std::optional<Address> target{};
  std::optional<Address> slot{};
  // Or how far behind the GOT's address, which a register holds, that word lies, bytes.
  std::optional<Address> slot_behind_got{};
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
};

// An instruction that takes the address of constant data.
struct ConstantAddress {
  Address at = 0;     // of the instruction
  Address value = 0;  // what it takes; addresses of the same kind
  // Where it puts that: in a register or, where there is none, in the word at sp + offset, sp being
  // what the instruction leaves.
  std::optional<Register> destination{};
  std::int64_t offset = 0;  // bytes
};

// What the code at a program's entry point hands to the C library. Addresses of the same kind as
// those of the code.
struct StartupCode {
  std::optional<Address> main{};         // its first argument
  std::optional<Address> main_slot{};    // or the word that holds it
  std::optional<Address> callee_slot{};  // the word that holds the address of what it calls
  std::optional<Address> next{};  // or another piece of start-up code, which goes on from here
};

class InstructionDecoder;  // instruction.h
struct ReturnPath;         // return_path.h

struct Architecture {
  std::string_view name;                          // "x86_64": the word in JSON
  std::span<const std::string_view> gdb_names{};  // what gdb's Architecture.name() says
  std::uint16_t elf_machine = 0;
  std::uint8_t pointer_size = 8;  // bytes
  Endian endian = Endian::little;

  std::span<const std::string_view> register_names;  // gdb's names by DWARF number; "" is none
  Register pc = 0;  // where Registers keeps the pc: its DWARF number, or a number nobody else has
  Register sp = 0;
  Register fp = 0;
  Register return_address = 0;  // the CFI column of the return address; on x86 the same as pc
  std::optional<Register> link_register;  // holds the return address on entry, where there is one
  std::span<const Register> callee_saved;
  // Points to the thread's own data: the same in all frames.
  std::optional<Register> thread_pointer{};

  // Bits of a code pointer that are address; the rest is a signature or a mode bit.
  Address code_pointer_mask = ~Address{0};
  // What compilers align the starts of functions to, as a rule; parts of functions they do not.
  unsigned function_alignment = 16;  // bytes
  // What the conventions of calls align the stack pointer to at every call.
  unsigned call_alignment = 16;      // bytes
  std::uint8_t code_alignment = 1;   // bytes
  std::uint8_t stack_alignment = 8;  // of the words that may hold return addresses, bytes
  std::uint8_t return_address_size_on_stack = 0;  // bytes a call pushes; 0 with a link register

  PrstatusLayout prstatus;
  FramePointerLayout frame_pointer;
  std::span<const SignalTrampoline> signal_trampolines;
  std::span<const ThreadStart> thread_starts{};

  // The call that ends at the end of `before`, whose last byte lies just below `return_address`
  // (runtime address). A miss when no call instruction ends there. `before` holds up to
  // `longest_call` bytes.
  std::optional<CallSite> (*call_before)(ByteView before, Address return_address) = nullptr;
  std::uint8_t longest_call = 0;  // bytes

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
  // `wanted`; some of them are only bytes of others. `data_base` is what distances to data count
  // from in position-independent code that cannot name its own address (the GOT); 0 where unknown.
  void (*append_constant_addresses)(ByteView code, Address address, Address data_base,
                                    AddressRange wanted,
                                    std::vector<ConstantAddress>& found) = nullptr;
  // Appends the addresses in `wanted` that any operand in `code` may name, likewise; unordered,
  // with repetitions. `fixed`: the code runs where it was linked, and so may name them outright.
  void (*append_named_addresses)(ByteView code, Address address, Address data_base, bool fixed,
                                 AddressRange wanted, std::vector<Address>& found) = nullptr;
  // The registers of the first arguments that are pointers; empty where all lie on the stack.
  std::span<const Register> argument_registers{};

  // A decoder of instructions for the analysis of code without unwind tables.
  std::unique_ptr<InstructionDecoder> (*make_decoder)() = nullptr;

  // How the code at offset `at` of a function, whose bytes are `code` and which begins at `address`
  // (runtime), goes back to its caller; a miss where that is not followed.
  std::optional<ReturnPath> (*return_path)(ByteView code, Address address,
                                           std::uint64_t at) = nullptr;

  // The jump at `address` (runtime), when `code`, which begins there, is nothing but a jump with
  // at most a landing pad or a push before it.
  std::optional<JumpStub> (*jump_stub)(ByteView code, Address address) = nullptr;

  // What the code at `address`, with which `code` begins, is as the start-up code of a program; a
  // miss for anything that has not the exact form of a C library's.
  std::optional<StartupCode> (*startup)(ByteView code, Address address) = nullptr;

  // The relocations that object files of this instruction set have in their code.
  std::span<const RelocationForm> (*relocations)() = nullptr;
  // Where a place of RelocationKind::got_slot leads, by the instruction that the linker left there.
  RelocatedTarget (*got_target)(const RelocatedPlace& place) = nullptr;

  [[nodiscard]] Address code_address(std::uint64_t word) const { return word & code_pointer_mask; }
  // All ones in the low pointer_size bytes: addresses wrap here.
  [[nodiscard]] Address address_mask() const {
    return pointer_size >= 8 ? ~Address{0} : (Address{1} << (8 * pointer_size)) - 1;
  }
  [[nodiscard]] std::optional<Register> register_named(std::string_view register_name) const;
};

// All instruction sets that whocall knows.
std::span<const Architecture* const> architectures();

// By ELF machine (EM_*), class (pointer size in bytes) and byte order; null when unknown.
const Architecture* find_architecture(std::uint16_t elf_machine, unsigned pointer_size,
                                      Endian endian);
// By our own name ("x86_64") or one of gdb's ("i386:x86-64"); null when unknown.
const Architecture* find_architecture(std::string_view name);

// "x86-64", "ARM": a reader's word for an ELF machine number, for error messages.
std::string_view elf_machine_name(std::uint16_t elf_machine);

}  // namespace whocall
