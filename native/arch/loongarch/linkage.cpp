#include "arch/loongarch/linkage.h"

#include "arch/loongarch/addresses.h"
#include "arch/loongarch/decoder.h"
#include "arch/loongarch/fields.h"

namespace whocall::loongarch {
namespace {

constexpr std::uint32_t kAlignStack = 0x00830003;  // bstrins.d sp,zero,3,0

// t0 to t8, which nobody keeps over a call.
constexpr bool is_temporary(Register number) { return number >= 12 && number <= 20; }

JumpStub stub_of(const Addresses::Value& to) {
  return to.kind == Addresses::Value::Kind::slot ? JumpStub{.slot = to.value}
                                                 : JumpStub{.target = to.value};
}

}  // namespace

// A slot of the PLT: pcaddu12i t3,high; ld.d t3,t3,low; jirl t1,t3,0; nop. Or a jump alone, near or
// far.
std::optional<JumpStub> jump_stub(ByteView code, Address address) {
  constexpr std::uint64_t kLongest = 4 * kWidth;
  Decoder decoder;
  Addresses known(true);
  for (std::uint64_t at = 0; at < kLongest; at += kWidth) {
    const auto instruction = decoder.decode(code.from(at), address + at);
    if (!instruction) {
      return std::nullopt;
    }
    if (instruction->flow == Instruction::Flow::jump) {
      return JumpStub{.target = instruction->target};
    }
    const std::uint32_t word = word_at(code, at).value_or(0);
    if (instruction->flow == Instruction::Flow::indirect_jump) {
      const auto to = known.at(rj(word));
      const bool leads = to && to->kind != Addresses::Value::Kind::number && offs16(word) == 0;
      return leads ? std::optional(stub_of(*to)) : std::nullopt;
    }
    known.take(word, address + at);
    const bool of_stub = instruction->flow == Instruction::Flow::next && is_temporary(rd(word)) &&
                         known.at(rd(word));
    if (!of_stub) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// _start of glibc and musl: the stack pointer is aligned, and __libc_start_main is called, or
// musl's _start_c. a0 is its first argument: main, where it is named in the code.
std::optional<StartupCode> startup(ByteView code, Address address) {
  constexpr std::uint64_t kLongest = 24 * kWidth;
  Decoder decoder;
  Addresses known(true);
  bool aligned = false;
  for (std::uint64_t at = 0; at < kLongest;) {
    const auto instruction = decoder.decode(code.from(at), address + at);
    if (!instruction) {
      return std::nullopt;
    }
    const bool calls = instruction->flow == Instruction::Flow::call;
    if (aligned && (calls || instruction->flow == Instruction::Flow::jump)) {
      StartupCode found;
      const auto main = known.at(kA0);
      if (main && main->kind == Addresses::Value::Kind::slot) {
        found.main_slot = main->value;
      } else if (main && main->kind == Addresses::Value::Kind::address) {
        found.main = main->value;
      } else if (!calls) {
        found.next = instruction->target;
      }
      return found;
    }
    if (instruction->flow != Instruction::Flow::next) {
      return std::nullopt;
    }
    const std::uint32_t word = word_at(code, at).value_or(0);
    aligned = aligned || word == kAlignStack;
    known.take(word, address + at);
    known.forget(*instruction);
    at += instruction->size;
  }
  return std::nullopt;
}

}  // namespace whocall::loongarch
