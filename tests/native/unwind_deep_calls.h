// Functions that call each other, with unwind tables, and a stack of their calls: on x86-64 and on
// AArch64 the same chain, in frames as compilers make them where frame pointers are kept.
//
//   x86-64:   locals, the caller's frame pointer, the return address; rbp leads to the second
//   AArch64:  the caller's frame pointer, the return address, locals; x29 leads to the first
#pragma once

#include <cstddef>
#include <memory>

#include "arch/aarch64/facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind_process.h"

namespace whocall::test {

class DeepCalls {
 public:
  // Function 0 calls itself until `depth` frames are made; above it stand `chain` - 1 others, one
  // each, of which the last is where the program is started.
  DeepCalls(const Architecture& arch, std::size_t depth, std::size_t chain, bool has_tables = true)
      : arch_(arch), depth_(depth), chain_(chain), process_(arch) {
    FrameTable table(arch);
    const auto cie =
        is_linked() ? table.cie(Bytes().u8(0x0c).uleb(kLinkedSp).uleb(0)) : table.usual_cie();
    process_.map(kCode, std::vector<std::byte>(kFunctions * kFunctionSize), "r-x");
    for (std::size_t i = 0; i < kFunctions; ++i) {
      const Address begin = kCode + i * kFunctionSize;
      process_.put(begin + kCall, call(begin + kCall, i == 0 ? begin : begin - kFunctionSize));
      if (has_tables) {
        table.fde(cie, {begin, begin + kFunctionSize}, rows(i));
      }
    }
    const Address entry = kCode + (chain - 1) * kFunctionSize + 0x60;
    process_.module("/bin/deep",
                    {{kCode, kCode + kFunctions * kFunctionSize}, entry, table.bytes()}, true);
  }

  // A thread whose stack begins at `base`, mapped into the process.
  Thread thread(Address base) {
    Stack stack(base, arch_);
    for (std::size_t level = 0; level < depth_; ++level) {
      const bool outermost = level + 1 == depth_;
      const Address back = outermost ? 0 : back_in(function_at(level + 1));
      if (is_linked()) {
        const Address caller = stack.here() + frame_size(function_at(level));
        stack.word(outermost ? 0 : caller).word(back).up_to(caller);
      } else {
        stack.words(locals(level), 0x1111);
        const Address caller = stack.here() + 16 + 8 * locals(level + 1);
        stack.word(outermost ? 0 : caller).word(back);
      }
    }
    process_.stack(stack.words(16, 0));
    Thread thread;
    thread.registers.set(arch_.registers.pc, kCode + kCall);
    thread.registers.set(arch_.registers.sp, base);
    thread.registers.set(arch_.registers.fp, is_linked() ? base : base + 8 * locals(0));
    return thread;
  }

  // Of the threads' stacks, too.
  [[nodiscard]] std::unique_ptr<ProcessImage> image() const { return process_.image(); }
  [[nodiscard]] Address back_in(std::size_t function) const {
    return kCode + function * kFunctionSize + kCall + (is_linked() ? 4 : 5);
  }

 private:
  static constexpr Address kCode = 0x401000;
  static constexpr std::size_t kFunctions = 40;
  static constexpr std::size_t kFunctionSize = 0x200;
  static constexpr Address kCall = 0x80;
  static constexpr unsigned kLinkedSp = 31;

  [[nodiscard]] bool is_linked() const { return arch_.registers.link.has_value(); }
  [[nodiscard]] std::size_t function_at(std::size_t level) const {
    return level + chain_ <= depth_ ? 0 : level + chain_ - depth_;
  }
  // In words: of x86-64.
  [[nodiscard]] std::size_t locals(std::size_t level) const { return 1 + function_at(level) % 13; }
  // In bytes: of AArch64.
  [[nodiscard]] static std::size_t frame_size(std::size_t function) {
    return 16 * (2 + function % 7);
  }

  [[nodiscard]] Bytes call(Address from, Address target) const {
    if (is_linked()) {  // bl
      return Bytes().u32(0x94000000U | ((target - from) / 4 & 0x3ffffffU));
    }
    return Bytes{0xe8}.u32(target - from - 5);
  }
  [[nodiscard]] Bytes rows(std::size_t function) const {
    if (!is_linked()) {  // push %rbp; sub $N,%rsp
      return Bytes{0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0e}.uleb(8 * (3 + function % 13));
    }
    const std::size_t size = frame_size(function);  // stp x29,x30,[sp,#-N]!
    return Bytes{0x44, 0x0e}.uleb(size).u8(0x9d).uleb(size / 8).u8(0x9e).uleb(size / 8 - 1);
  }

  const Architecture& arch_;
  std::size_t depth_;
  std::size_t chain_;
  TestProcess process_;
};

}  // namespace whocall::test
