// Functions that jump to others instead of calling them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arch/instruction.h"
#include "process/process_image.h"
#include "unwind/code/code_map.h"

namespace whocall {

// Folklore. Situation: the call before a return address goes to another function than the one that
// is to return there. Example: bn_mul_mont looks at the sizes and jumps to bn_mul4x_mont; qsort
// jumps to qsort_r; foo jumps into its cold part. The frame of the jumping function is gone, its
// caller is the caller of both. Remedy: a call also speaks for a callee that its target leads to by
// a few jumps that leave their functions.
class TailCalls {
 public:
  // Both must outlive the object.
  TailCalls(const ProcessImage& process, CodeMap& code);

  // Whether a chain of at most kLongestChain jumps leads from the function at `from` into the
  // function that holds `to` (runtime addresses). Looks at kFunctionLimit functions at the most.
  bool lead(Address from, Address to);

  // Whether no chain of jumps, however long, leads there from `from`: all of its flow is known.
  bool cannot_lead(Address from, Address to);

  // Whether the code at `from` does little else than jump to where a register tells.
  //
  // Folklore. Situation: a runtime enters its own code by a function that jumps there. Example:
  // S_generic_invoke of Chez Scheme: add $65,%rsi; jmp *%rsi. Remedy: a call to it may have gone
  // anywhere, so it speaks against no callee.
  bool leads_anywhere(Address from);

  // Whether the flow from `from` comes to such a jump at all before it returns.
  //
  // Folklore. Situation: an interpreter makes its frame, and goes on by jumps through a table, some
  // of which lead to code that was compiled at run time. Example: lj_vm_call of LuaJIT; a trace
  // runs in the interpreter's frame. Remedy: a call to it may have gone to any code of no module.
  bool reaches_indirect_jump(Address from);

  // Whether the code at `from` takes its return address off the stack and jumps to where a register
  // tells.
  //
  // Folklore. Situation: a tool replaced a function's return address, and calls, so that the
  // processor's own stack of return addresses agrees with it. Example: the page of Frida's
  // interceptor: thunk: lea 8(%rsp),%rsp; jmp *%rax; ...; call thunk; trampoline: push ...; jmp
  // *...; the function returns to the trampoline. Remedy: that call is nobody's.
  bool discards_return(Address from);

 private:
  static constexpr int kLongestChain = 2;
  static constexpr std::size_t kFunctionLimit = 64;

  [[nodiscard]] bool is_known_to_miss(Address from, const AddressRange& to) const;
  // Whether it does little else; the stack pointer is raised by so many bytes on the way.
  [[nodiscard]] bool jumps_away(Address from, std::int64_t raised) const;
  [[nodiscard]] bool look_for_indirect_jump(Address from) const;
  bool search(const AddressRange& from, const AddressRange& to);
  const std::vector<Address>& outward_jumps(const AddressRange& function);

  const ProcessImage& process_;
  CodeMap& code_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::unordered_map<Address, std::vector<Address>> outward_;  // by function start
  std::map<std::pair<Address, Address>, bool> answers_;        // by the starts of both functions
  std::map<std::pair<Address, Address>, bool> misses_;         // likewise
  std::unordered_map<Address, bool> anywhere_;                 // by address
  std::unordered_map<Address, bool> discarding_;               // by address
  std::unordered_map<Address, bool> indirect_;                 // by address
};

}  // namespace whocall
