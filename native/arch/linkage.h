// What linkers put between functions and files: stubs, start-up code, relocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "arch/relocation_form.h"
#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

inline constexpr std::size_t kLongestStub = 64;  // bytes: no stub has more

// Where a jump stub (PLT entry, thunk, tail jump) goes: a fixed target, or the word that holds it.
struct JumpStub {
  std::optional<Address> target{};
  std::optional<Address> slot{};
  // Or how far behind the GOT's address, which a register holds, that word lies, bytes.
  std::optional<Address> slot_behind_got{};
};

// What the code at a program's entry point hands to the C library. Addresses of the same kind as
// those of the code.
struct StartupCode {
  std::optional<Address> main{};         // its first argument
  std::optional<Address> main_slot{};    // or the word that holds it
  std::optional<Address> callee_slot{};  // the word that holds the address of what it calls
  std::optional<Address> next{};  // or another piece of start-up code, which goes on from here
};

struct Linkage {
  // The smallest slot of a procedure linkage table: section headers may say less (ld for i386).
  std::uint8_t smallest_slot = 16;  // bytes
  // What a slot pushes before it goes to the first one, which looks the function up.
  std::uint8_t pushed_by_slot = 0;  // bytes

  // The section from whose beginning, or from `switches_offset` bytes behind it, the cases of a
  // switch are counted: the GOT, whose address a register holds. Empty: they are not.
  std::string_view switches_count_from{};
  std::uint16_t switches_offset = 0;

  // The jump at `address` (runtime), when `code`, which begins there, is nothing but a jump with
  // at most a landing pad or a push before it.
  std::optional<JumpStub> (*jump_stub)(ByteView code, Address address) = nullptr;
  [[nodiscard]] std::optional<JumpStub> stub_at(ByteView code, Address address) const {
    return jump_stub != nullptr ? jump_stub(code, address) : std::nullopt;
  }

  // What the code at `address`, with which `code` begins, is as the start-up code of a program; a
  // miss for anything that has not the exact form of a C library's.
  std::optional<StartupCode> (*startup)(ByteView code, Address address) = nullptr;
  std::string_view entry_name = "_start";  // what C libraries call it
  // What the code at a program's entry point puts into the register from which all its code counts
  // distances to data (RISC-V: gp); a miss for what does not look like that.
  std::optional<Address> (*global_pointer)(ByteView code, Address address) = nullptr;

  // The relocations that object files of this instruction set have in their code.
  std::span<const RelocationForm> (*relocations)() = nullptr;
  // Where a place of RelocationKind::got_slot or branch_field leads, by the instruction that the
  // linker left there.
  RelocatedTarget (*got_target)(const RelocatedPlace& place) = nullptr;
};

}  // namespace whocall
