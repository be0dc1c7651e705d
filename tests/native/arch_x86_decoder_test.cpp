// What instructions do to the stack pointer, to registers and to words of the stack.
#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"
#include "unwind/analysis/abstract_state.h"

namespace whocall::test {
namespace {

constexpr Address kAt = 0x401000;

std::optional<Instruction> decode(const Architecture& arch, const Bytes& code) {
  return decoder_for(arch)->decode(code.view(), kAt);
}

// The state of a called function behind straight code.
AbstractState behind(const Architecture& arch, const Bytes& code) {
  const auto decoder = decoder_for(arch);
  AbstractState state(arch);
  std::uint64_t offset = 0;
  while (offset < code.size()) {
    const auto instruction = decoder->decode(code.view().from(offset), kAt + offset);
    REQUIRE(instruction.has_value());
    for (const Effect& effect : instruction->list()) {
      state.apply(effect);
    }
    offset += instruction->size;
  }
  return state;
}

void check_depth(const Architecture& arch, const Bytes& code, std::int64_t below_cfa) {
  CHECK(behind(arch, code).get(arch.registers.sp) == AbstractValue::from_cfa(-below_cfa));
}

TEST_CASE("decoder: pushes and pops move the stack pointer by their operand's size") {
  check_depth(kX86_64, {0x53}, 16);                          // push %rbx
  check_depth(kX86_64, {0x6a, 0x05}, 16);                    // push $5
  check_depth(kX86_64, {0xff, 0x37}, 16);                    // push (%rdi)
  check_depth(kX86_64, {0x66, 0x6a, 0x03}, 10);              // pushw $3
  check_depth(kX86_64, {0x66, 0x50}, 10);                    // push %ax
  check_depth(kX86_64, {0x66, 0x50, 0x66, 0x58}, 8);         // push %ax; pop %ax
  check_depth(kX86_64, {0x66, 0x50, 0x66, 0x8f, 0x07}, 8);   // push %ax; popw (%rdi)
  check_depth(kX86_64, {0x9c, 0x9c, 0x9d}, 16);              // pushf; pushf; popf
  check_depth(kX86_64, {0x0f, 0xa8, 0x0f, 0xa0}, 24);        // push %gs; push %fs
  check_depth(kI386, {0x53}, 8);                             // push %ebx
  check_depth(kI386, {0x0f, 0xa8, 0x06, 0x07}, 8);           // push %gs; push %es; pop %es
  check_depth(kI386, {0x60}, 36);                            // pusha
  check_depth(kI386, {0x60, 0x61}, 4);                       // pusha; popa
  check_depth(kX86_64, {0xc8, 0x20, 0x00, 0x00}, 48);        // enter $32,$0
  check_depth(kX86_64, {0xc8, 0x20, 0x00, 0x00, 0xc9}, 8);   // enter $32,$0; leave
  check_depth(kX86_64, {0x48, 0x83, 0xec, 0x80}, 8 - 128);   // sub $-128,%rsp
  check_depth(kX86_64, {0x48, 0x8d, 0x64, 0x24, 0xd8}, 48);  // lea -40(%rsp),%rsp
}

TEST_CASE(
    "decoder: undefined instructions end a path, under every name that Capstone has for them") {
  for (const Bytes& code : {Bytes{0x0f, 0x0b}, Bytes{0x0f, 0xb9, 0xc0}, Bytes{0x0f, 0xff, 0xc0}}) {
    const auto instruction = decode(kX86_64, code);  // ud2, ud1, ud0
    REQUIRE(instruction.has_value());
    CHECK(instruction->flow == Instruction::Flow::stop);
    CHECK_FALSE(instruction->returns);
  }
  // Those of three bytes that end alike go on: roundsd, pmulhrsw.
  for (const Bytes& code :
       {Bytes{0x66, 0x0f, 0x3a, 0x0b, 0xd0, 0x0b}, Bytes{0x66, 0x0f, 0x38, 0x0b, 0xd0}}) {
    const auto instruction = decode(kX86_64, code);
    REQUIRE(instruction);
    CHECK(instruction->flow == Instruction::Flow::next);
  }
  CHECK(decode(kX86_64, {0x0f, 0xa2})->flow == Instruction::Flow::next);    // cpuid
  CHECK(decode(kX86_64, {0xe2, 0xe7})->flow == Instruction::Flow::branch);  // loop
}

TEST_CASE("decoder: pusha keeps what calls preserve where popa finds it again") {
  constexpr Register kEbx = 3;
  const AbstractState pushed = behind(kI386, {0x60, 0x31, 0xdb});  // pusha; xor %ebx,%ebx
  CHECK(pushed.get(kEbx).kind == AbstractValue::Kind::unknown);
  const AbstractState popped = behind(kI386, {0x60, 0x31, 0xdb, 0x61});
  for (const Register number : {kEbx, Register{5}, Register{6}, Register{7}}) {
    CHECK(popped.get(number) == AbstractValue::on_entry(number));
  }
}

TEST_CASE("decoder: exchanged registers have each other's values") {
  constexpr Register kRbx = 3;
  constexpr Register kRbp = 6;
  const AbstractState state = behind(kX86_64, {0x48, 0x87, 0xdd});  // xchg %rbx,%rbp
  CHECK(state.get(kRbx) == AbstractValue::on_entry(kRbp));
  CHECK(state.get(kRbp) == AbstractValue::on_entry(kRbx));
  const AbstractState twice = behind(kX86_64, {0x48, 0x87, 0xdd, 0x48, 0x87, 0xdd});
  CHECK(twice.get(kRbp) == AbstractValue::on_entry(kRbp));
  const AbstractState away = behind(kX86_64, {0x48, 0x87, 0xe3});  // xchg %rsp,%rbx
  CHECK(away.get(kRbx) == AbstractValue::from_cfa(-8));
  CHECK_FALSE(away.get(kX86_64.registers.sp).kind == AbstractValue::Kind::cfa);
  // With memory nothing is known: xchg %rbx,(%rdi)
  CHECK(behind(kX86_64, {0x48, 0x87, 0x1f}).get(kRbx).kind == AbstractValue::Kind::unknown);
}

TEST_CASE("decoder: padding between functions and blocks") {
  const auto pads = [](const Architecture& arch, const Bytes& code) {
    const auto found = decode(arch, code);
    return found && found->padding && found->size == code.size();
  };
  CHECK(pads(kX86_64, {0x90}));
  CHECK(pads(kX86_64, {0xcc}));
  CHECK(pads(kX86_64, {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}));      // nopw 0(%rax,%rax,1)
  CHECK(pads(kI386, {0x8d, 0x76, 0x00}));                          // lea 0(%esi),%esi
  CHECK(pads(kI386, {0x8d, 0x74, 0x26, 0x00}));                    // lea 0(%esi,%eiz,1),%esi
  CHECK(pads(kI386, {0x8d, 0xb4, 0x26, 0x00, 0x00, 0x00, 0x00}));  // with 32 bits of zero
  // The same behind %cs:, one byte longer.
  CHECK(pads(kI386, {0x2e, 0x8d, 0x74, 0x26, 0x00}));
  CHECK(pads(kI386, {0x2e, 0x8d, 0xb4, 0x26, 0x00, 0x00, 0x00, 0x00}));
  CHECK_FALSE(pads(kI386, {0x8d, 0x76, 0x04}));        // lea 4(%esi),%esi
  CHECK_FALSE(pads(kI386, {0x2e, 0x8d, 0x76, 0x04}));  // lea %cs:4(%esi),%esi
  CHECK_FALSE(pads(kI386, {0x8d, 0x37}));              // lea (%edi),%esi
  CHECK_FALSE(pads(kI386, {0x8d, 0x34, 0x36}));        // lea (%esi,%esi,1),%esi
}

TEST_CASE("decoder: lea adds, whichever the segment") {
  constexpr Register kEsi = 6;
  const AbstractState same = behind(kI386, {0x2e, 0x8d, 0x74, 0x26, 0x00});
  CHECK(same.get(kEsi) == AbstractValue::on_entry(kEsi));
  check_depth(kI386, {0x36, 0x8d, 0x64, 0x24, 0xf0}, 20);  // lea %ss:-16(%esp),%esp
  // A load through a segment is of another place: mov %gs:0(%esi),%esi
  CHECK(behind(kI386, {0x65, 0x8b, 0x76, 0x00}).get(kEsi).kind == AbstractValue::Kind::unknown);
}

TEST_CASE("decoder: what the library does not know has its length from the encoding") {
  const auto mask = decode(kX86_64, {0xc4, 0x61, 0xfb, 0x93, 0xdb});  // kmovq %k3,%r11
  REQUIRE(mask.has_value());
  CHECK(mask->size == 5);
  const AbstractState state = behind(kX86_64, {0xc4, 0x61, 0xfb, 0x93, 0xdb});
  CHECK(state.get(11).kind == AbstractValue::Kind::unknown);
  CHECK(state.get(12) == AbstractValue::on_entry(12));
  CHECK_FALSE(decode(kX86_64, {0x06}).has_value());  // push %es, in 64-bit mode
  CHECK_FALSE(decode(kX86_64, {}).has_value());
}

}  // namespace
}  // namespace whocall::test
