// Where a function finds its frame: at its entry, and by the chain of frames.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arch/registers.h"

namespace whocall {

// The chain of frames that the conventional prologue leaves behind, each link a pair of words: the
// link to the next frame, and a return address. All offsets are bytes.
struct FrameChain {
  enum class Kind : std::uint8_t {
    // `base` is a register of its own (x86: rbp). Of the frame, at these offsets from it:
    //   CFA = base + cfa_offset; caller's base = *(base + link_offset);
    //   return address = *(base + return_address_offset)
    frame_pointer,
    // `base` is the stack pointer, and its word leads to where it was (POWER, IBM Z):
    //   caller's base = *(base + link_offset); CFA = caller's base + cfa_offset;
    //   return address = *(caller's base + return_address_offset)
    back_chain,
    // `base` is a register of its own, and leads to a pair of words somewhere in the frame, whose
    // size nobody tells (AArch64: x29):
    //   caller's base = *(base + link_offset); return address = *(base + return_address_offset)
    // Compilers keep the pair at the bottom of the frame or at its top. The caller's stack pointer
    // is taken to be its base: right at the bottom, and at the top of no consequence, as such
    // frames are told by their base.
    frame_record,
  };
  Kind kind = Kind::frame_pointer;
  Register base = 0;
  std::int32_t cfa_offset = 0;  // of no meaning for a frame record
  std::int32_t link_offset = 0;
  std::int32_t return_address_offset = 0;
};

// How the frames of Go's own compiler lie, which follows conventions of its own.
struct GoFrames {
  // The goroutine's struct: the register that leads there in Go code, or to the thread's data,
  // where its address lies.
  Register goroutine = 0;
  Register clone_stack = 0;  // has the new stack when the system call that makes a thread returns
  // Where a frame keeps the caller's frame pointer, from the place of its return address; a miss
  // where nobody keeps it. The return address lies above the frame where calls push it, else at its
  // bottom.
  std::optional<std::int32_t> saved_fp{};  // bytes
  // Before a signal handler makes the interrupted function look as if it had called, it pushes the
  // link register and moves the stack pointer by this.
  std::uint8_t pushed_by_injection = 0;  // bytes
};

// The call that a function with too little stack makes at its beginning, to what makes some and
// calls the rest of the function first (-fsplit-stack): it comes back behind its own return
// address.
struct OuterCall {
  std::span<const std::uint8_t> computes{};  // the code for the address behind the own return
  std::span<const std::uint8_t> calls{};     // the code that goes there; empty: there is none
  std::int32_t outer = 0;                    // from one return address to the other, bytes
};

struct FrameModel {
  // The CFA on entry, from the stack pointer there. On x86 the size of the return address that the
  // call pushed; on IBM Z the 160 bytes that a caller leaves to its callee.
  std::int32_t cfa_on_entry = 0;  // bytes
  // What a call pushes: the return address; 0 where it goes into a register.
  std::uint8_t pushed_by_call = 0;  // bytes
  // Below the stack pointer, where no signal handler writes and functions that call nobody may keep
  // what they like.
  std::int32_t red_zone = 0;  // bytes
  std::optional<FrameChain> chain{};
  std::optional<GoFrames> go{};  // a miss where Go programs are not followed
  OuterCall outer_call{};

  // The caller's stack pointer from the CFA, where no rule says better.
  [[nodiscard]] std::int64_t sp_from_cfa() const {
    return std::int64_t{pushed_by_call} - cfa_on_entry;
  }
};

}  // namespace whocall
