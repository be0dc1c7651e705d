// Functions that never return to their callers: by their names, and by following their flow.
#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind/code/no_return.h"
#include "unwind_code.h"

namespace whocall::test {
namespace {

bool never_returns(const Architecture& arch, const CodeFile& file, Address target) {
  CodeProcess process(arch, file);
  return NoReturn(*process.image, process.code).never_returns(target);
}

TEST_CASE("no return: names of the C and C++ runtimes") {
  for (const char* name : {"abort", "exit", "_exit", "__stack_chk_fail", "__cxa_throw", "longjmp",
                           "_Unwind_Resume", "_ZSt20__throw_length_errorPKc", "verrx"}) {
    CAPTURE(std::string(name));
    CHECK(is_known_not_to_return(name));
  }
  for (const char* name :
       {"", "aborted", "exi", "printf", "__cxa_begin_catch", "setjmp", "_ZN3foo11__throw_barEv"}) {
    CAPTURE(std::string(name));
    CHECK_FALSE(is_known_not_to_return(name));
  }
}

TEST_CASE("no return: by the flow") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    CAPTURE(std::string(arch->name));
    Functions functions(*arch);
    const Address returns = functions.add({0xc3});                       // ret
    const Address traps = functions.add({0x0f, 0x0b});                   // ud2
    const Address loops = functions.add({0x31, 0xc0, 0xeb, 0xfc});       // 1: xor %eax,%eax; jmp 1b
    const Address calls = functions.add(functions.branch(0xe8, traps));  // call traps
    const Address tail = functions.add(functions.branch(0xe9, traps));   // jmp traps
    const Address tail_back = functions.add(functions.branch(0xe9, returns));
    // test %eax,%eax; je 1f; ret; 1: ud2
    const Address sometimes = functions.add({0x85, 0xc0, 0x74, 0x01, 0xc3, 0x0f, 0x0b});
    const Address indirect = functions.add({0xff, 0xe0});  // jmp *%rax
    const Address odd = functions.add({0xff, 0xff});       // no instruction
    const Address itself =
        functions.add(functions.branch(0xe8, functions.address(9)).append(Bytes{0xc3}));
    const auto check = [&](Address target) {
      return never_returns(*arch, functions.file(), target);
    };
    for (const Address target : {traps, loops, calls, tail}) {
      CAPTURE(target);
      CHECK(check(target));
    }
    for (const Address target : {returns, tail_back, sometimes, indirect, odd, itself}) {
      CAPTURE(target);
      CHECK_FALSE(check(target));
    }
    CHECK_FALSE(check(traps + 1));   // no function begins there
    CHECK_FALSE(check(0x12345000));  // nothing is there
  }
}

TEST_CASE("no return: what has been asked before does not change the answer") {
  Functions functions(kX86_64);
  const Address traps = functions.add({0x0f, 0x0b});
  const Address calls = functions.add(functions.branch(0xe8, traps));
  CodeProcess process(kX86_64, functions.file());
  NoReturn no_return(*process.image, process.code);
  CHECK(no_return.never_returns(calls));
  CHECK(no_return.never_returns(traps));
  CHECK(no_return.never_returns(calls));
}

// jmp *slot(%rip) at 0x402000; relocations bind the slot to the import `name`.
CodeFile with_stub(const Functions& functions, const std::string& name, Address bound) {
  constexpr Address kSlot = 0x403000;
  const Bytes dynstr = Bytes().u8(0).text(name);
  const Bytes dynsym =
      Bytes().fill(24, 0).u32(1).u8(STB_GLOBAL << 4U | STT_FUNC).u8(0).u16(0).u64(0).u64(0);
  CodeFile file = functions.file();
  file.code(0x402000, Bytes{0xff, 0x25}.u32(kSlot - 0x402006), ".plt.sec");
  file.section({.name = ".got", .address = kSlot, .bytes = Bytes().u64(bound)});
  file.section(
      {.name = ".dynstr", .type = SHT_STRTAB, .address = 0x404000, .bytes = dynstr});  // number 5
  file.section({.name = ".dynsym",
                .type = SHT_DYNSYM,
                .address = 0x405000,
                .bytes = dynsym,
                .entry_size = 24,
                .link = 5});  // number 6
  if (!name.empty()) {
    file.section({.name = ".rela.plt",
                  .type = SHT_RELA,
                  .address = 0x406000,
                  .bytes = Bytes().u64(kSlot).u64(std::uint64_t{1} << 32U | 7U).u64(0),
                  .entry_size = 24,
                  .link = 6});
  }
  return file;
}

TEST_CASE("no return: a stub is what its import's name says, or what its slot is bound to") {
  Functions functions(kX86_64);
  const Address returns = functions.add({0xc3});
  const Address traps = functions.add({0x0f, 0x0b});
  const auto check = [&](const std::string& name, Address bound) {
    return never_returns(kX86_64, with_stub(functions, name, bound), 0x402000);
  };
  CHECK(check("abort", 0));
  CHECK_FALSE(check("puts", 0));
  CHECK_FALSE(check("puts", traps));
  CHECK(check("", traps));
  CHECK_FALSE(check("", returns));
  CHECK_FALSE(check("", 0xffff0000));
}

}  // namespace
}  // namespace whocall::test
