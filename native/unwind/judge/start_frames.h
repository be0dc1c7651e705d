// Where the C library's start-up code stands on a stack, as far as it tells by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "process/process_image.h"
#include "unwind/rows/activation.h"

namespace whocall {

// The frame of the function that called main, or that of a new thread.
struct StartFrame {
  Address pc = 0;      // where setjmp returned to
  Address sp = 0;      // while it calls
  Address buffer = 0;  // what setjmp kept
  Address end = 0;     // where what lies behind the buffer begins
};

// Folklore. Situation: neither the program's code nor the C library's is at hand, so that nothing
// tells which of the words on the stack are return addresses. Example: a core of a statically
// linked program whose file is gone; in the frame below __libc_start_main lie the address of main
// and leftovers of constructors, and that library's own return address is as even as the address of
// a function. Remedy: glibc's start-up code calls setjmp before it calls main, or the function of a
// thread. The buffer tells its stack pointer: right below stands the return address of what it
// called, and within its frame none.
class StartFrames {
 public:
  explicit StartFrames(const ProcessImage& process) : process_(process) {}

  // Whether the word `pc` (a code address) at `slot` may be the return address of the frame of
  // `callee`; nothing where that cannot be told.
  std::optional<bool> may_return(const Activation& callee, Address slot, Address pc);

 private:
  [[nodiscard]] bool lies_beyond_stack(const Activation& callee, const Mapping& stack,
                                       Address slot) const;
  [[nodiscard]] std::optional<Address> thread_of(const Activation& callee) const;
  const std::optional<StartFrame>& of(const Activation& callee, const Mapping& stack);
  [[nodiscard]] std::optional<StartFrame> find(Address thread, AddressRange stack);
  [[nodiscard]] bool is_argument(const StartFrame& frame, Address pc) const;

  static constexpr std::uint64_t kMostSearched = std::uint64_t{64} << 20U;  // bytes of all stacks

  const ProcessImage& process_;
  std::uint64_t budget_ = kMostSearched;
  std::unordered_map<Address, std::optional<StartFrame>> known_;  // by thread, or by stack
};

}  // namespace whocall
