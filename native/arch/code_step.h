// What one instruction does to the frame that it runs in, as far as a walk needs it. Its readers
// need neither memory of their own nor a library: libwhocall, which goes into programs, has them as
// well.
#pragma once

#include <cstddef>
#include <cstdint>

namespace whocall {

struct CodeStep {
  enum class Flow : std::uint8_t {
    next,
    call,    // goes on behind itself, if whoever is called comes back
    branch,  // or at the target
    jump,    // at the target alone; 0: nobody knows where
    ret,     // at the caller
    end      // nowhere: it traps
  };
  enum class Pointer : std::uint8_t { same, from_sp, from_fp, lost };

  std::uint8_t size = 0;  // bytes; 0: it is not known
  Flow flow = Flow::next;
  Pointer sp = Pointer::same;  // what it is afterwards: plus sp_offset
  Pointer fp = Pointer::same;  // from_sp: of the stack pointer that it leaves, plus fp_offset
  bool is_tail_call = false;   // of a jump without a target: it may be one, and chooses nothing
  bool is_padding = false;     // does nothing
  bool saves_fp = false;       // puts it on the stack
  bool restores_fp = false;    // takes it from there
  bool saves_link = false;     // likewise the register with the return address
  bool restores_link = false;
  std::int32_t sp_offset = 0;   // bytes
  std::int32_t fp_offset = 0;   // bytes
  std::int32_t fp_place = 0;    // bytes above the stack pointer that it leaves
  std::int32_t link_place = 0;  // likewise
  std::uintptr_t target = 0;    // runtime address
  // Numbers in registers, for frames whose size no instruction can hold: one is put into a
  // register, or added to what is there; the stack pointer moves by it, as many times as sp_offset
  // says.
  enum class Number : std::uint8_t { none, put, added, moves_sp };
  Number number = Number::none;
  std::uint8_t number_register = 0;
  std::int32_t number_value = 0;
};

// Of the instruction at a runtime address, of `size` bytes that can be read, or more.
inline constexpr std::size_t kLongestStep = 16;  // bytes that a reader looks at
using StepReader = CodeStep (*)(const std::uint8_t* code, std::size_t size, std::uintptr_t address);

}  // namespace whocall
