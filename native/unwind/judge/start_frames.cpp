#include "unwind/judge/start_frames.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/byte_view.h"

namespace whocall {
namespace {

constexpr Address kAtTop = Address{1} << 20U;  // bytes of a stack in which it begins
constexpr Address kLargestStart = 1024;        // bytes of the start-up code's, below its buffer
constexpr Address kLargestFunction = 4096;     // bytes of its code

}  // namespace

std::optional<bool> StartFrames::may_return(const Activation& callee, Address slot, Address pc) {
  const Mapping* stack = process_.mapping_at(slot);
  const auto sp = callee.registers.get(process_.arch->registers.sp);
  if (stack == nullptr || !sp) {
    return std::nullopt;
  }
  if (lies_beyond_stack(callee, *stack, slot)) {
    return false;
  }
  const auto& frame = of(callee, *stack);
  if (!frame) {
    return std::nullopt;
  }
  const Address called_from = frame->sp - process_.arch->registers.size;
  if (slot < called_from) {
    return is_argument(*frame, pc) ? std::optional(false) : std::nullopt;
  }
  if (slot == called_from) {
    return true;
  }
  const bool to_itself = pc < frame->pc && frame->pc - pc < kLargestFunction &&
                         pc % process_.arch->code.function_alignment == 0;
  return *sp >= frame->sp && slot >= frame->end && !to_itself && !is_argument(*frame, pc);
}

// Folklore. Situation: above the first frame of a thread lie the thread's own data, and in them the
// address of the function that it was made to run. Example: start_routine in glibc's struct
// pthread. Remedy: where the thread pointer points into the stack's mapping, the stack ends below.
bool StartFrames::lies_beyond_stack(const Activation& callee, const Mapping& stack,
                                    Address slot) const {
  const auto thread = thread_of(callee);
  return thread && stack.range.contains(*thread) && slot >= *thread &&
         callee.registers.get(process_.arch->registers.sp) < thread;
}

std::optional<Address> StartFrames::thread_of(const Activation& callee) const {
  const auto& pointer = process_.arch->registers.thread_pointer;
  return pointer ? callee.registers.get(*pointer) : std::nullopt;
}

const std::optional<StartFrame>& StartFrames::of(const Activation& callee, const Mapping& stack) {
  const auto thread = thread_of(callee);
  const bool above = thread && stack.range.contains(*thread);
  const auto [known, fresh] = known_.try_emplace(above ? *thread : stack.range.begin);
  if (fresh && thread) {
    known->second = find(*thread, {stack.range.begin, above ? *thread : stack.range.end});
  }
  return known->second;
}

// From the top of the stack down, or from the thread's own data: what other code kept by setjmp
// lies farther below. What was not looked at is given back to the budget.
std::optional<StartFrame> StartFrames::find(Address thread, AddressRange stack) {
  const Architecture& arch = *process_.arch;
  const auto& form = arch.os.kept_jump;
  const unsigned word = arch.registers.size;
  const auto key =
      form ? process_.memory->read_unsigned(thread + form->key_offset, word, arch.abi.endian)
           : std::nullopt;
  if (!key || stack.size() < form->size) {
    return std::nullopt;
  }
  const Address searched = std::min({stack.size(), kAtTop, budget_});
  budget_ -= searched;
  const Address begin = (stack.end - searched) & ~Address{word - 1U};
  std::vector<std::byte> room;
  const ByteView words(process_.memory->bytes_at(begin, stack.end - begin, room), arch.abi.endian);
  const auto kept = [&](Address at) {
    const std::uint64_t scrambled = words.read_unsigned(at - begin, word).value_or(0);
    const auto back = static_cast<int>(form->rotated);
    return (word == 4 ? std::rotr(static_cast<std::uint32_t>(scrambled), back)
                      : std::rotr(scrambled, back)) ^
           *key;
  };
  for (Address at = (stack.end - form->size) & ~Address{form->alignment - 1}; at >= begin;
       at -= form->alignment) {
    const Address sp = kept(at + form->sp_offset);
    if (sp < begin + word || sp > at || at - sp > kLargestStart ||
        sp % arch.abi.call_alignment != 0) {
      continue;
    }
    const Address pc = kept(at + form->pc_offset);
    const auto called = words.read_unsigned(sp - word - begin, word).value_or(0);
    if (process_.is_code(pc) && process_.is_code(called) && called > pc &&
        called - pc < kLargestFunction) {
      budget_ += at - begin;
      const Address end = at + form->size + form->alignment - 1;
      return StartFrame{pc, sp, at, end & ~Address{form->alignment - 1}};
    }
  }
  return std::nullopt;
}

// What it was started with lies below the buffer: the address of main among it.
bool StartFrames::is_argument(const StartFrame& frame, Address pc) const {
  const Address word = process_.arch->registers.size;
  for (Address at = frame.sp; at < frame.buffer; at += word) {
    if (process_.code_pointer_at(at) == pc) {
      return true;
    }
  }
  return false;
}

}  // namespace whocall
