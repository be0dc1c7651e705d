// Registers as values, and the list of instruction sets.
#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "arch/architecture.h"
#include "arch/architecture_choice.h"
#include "arch/elf_machine.h"
#include "arch/followed_values.h"
#include "arch/instruction.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x32_facts.h"
#include "arch/x86/x86_64_facts.h"

namespace whocall::test {
namespace {

TEST_CASE("registers: unknown until set, unknown again when forgotten") {
  Registers registers;
  CHECK_FALSE(registers.known(3));
  CHECK_FALSE(registers.get(3).has_value());
  registers.set(3, 0);
  CHECK(registers.get(3) == 0U);
  registers.set(3, ~std::uint64_t{0});
  CHECK(registers.get(3) == ~std::uint64_t{0});
  CHECK_FALSE(registers.known(4));
  registers.forget(3);
  CHECK_FALSE(registers.get(3).has_value());
}

TEST_CASE("registers: numbers beyond the limit are never known") {
  Registers registers;
  for (const unsigned number : {unsigned{kRegisterLimit}, unsigned{kRegisterLimit} + 1, 65535U}) {
    const auto beyond = static_cast<Register>(number);
    registers.set(beyond, 1);
    CHECK_FALSE(registers.known(beyond));
    registers.forget(beyond);
  }
  registers.set(kRegisterLimit - 1, 7);
  CHECK(registers.get(kRegisterLimit - 1) == 7U);
}

TEST_CASE("architectures: each is complete and consistent") {
  std::set<std::string_view> names;
  for (const Architecture* arch : architectures()) {
    CAPTURE(std::string(arch->name));
    CHECK(names.insert(arch->name).second);
    CHECK((arch->abi.pointer_size == 4 || arch->abi.pointer_size == 8));
    CHECK(arch->registers.size % arch->abi.pointer_size == 0);
    CHECK(arch->registers.names.size() <= kRegisterLimit);
    for (const Register number : {arch->registers.pc, arch->registers.sp, arch->registers.fp}) {
      CHECK(number < kRegisterLimit);
    }
    CHECK((arch->code.call_before != nullptr));
    CHECK((arch->linkage.jump_stub != nullptr));
    CHECK(arch->code.longest_call > 0);
    CHECK(arch->code.longest_call <= 16);
    const PrstatusLayout& prstatus = arch->os.prstatus;
    CHECK(prstatus.registers_offset + prstatus.registers_size <= prstatus.size);
    for (const SavedRegister& saved : prstatus.registers) {
      CHECK(saved.offset + saved.size <= prstatus.registers_size);
      CHECK(saved.number < kRegisterLimit);
    }
    for (const SignalTrampoline& trampoline : arch->os.signal_trampolines) {
      CHECK_FALSE(trampoline.code.empty());
      CHECK_FALSE(trampoline.registers.empty());
    }
  }
}

TEST_CASE("architectures: flags tell ABIs of one machine and class from each other") {
  constexpr std::uint32_t kN32 = 0x20;  // EF_MIPS_ABI2
  constexpr std::uint32_t kO32 = 0x1000;
  Abi abi{.elf_machine = EM_MIPS, .pointer_size = 4, .endian = Endian::big};
  ElfIdentity file{EM_MIPS, 4, Endian::big, kN32};
  CHECK(abi.is_of(file));
  abi.accepts = [](std::uint32_t flags) { return (flags & kN32) == 0; };
  CHECK_FALSE(abi.is_of(file));
  file.flags = kO32;
  CHECK(abi.is_of(file));
}

TEST_CASE("architectures: found by machine, class and byte order, and by name") {
  CHECK(find_architecture(ElfIdentity{EM_X86_64, 8, Endian::little}) == &kX86_64);
  CHECK(find_architecture(ElfIdentity{EM_386, 4, Endian::little}) == &kI386);
  CHECK(find_architecture(ElfIdentity{EM_X86_64, 4, Endian::little}) == &kX32);
  CHECK(find_architecture(ElfIdentity{EM_X86_64, 8, Endian::big}) == nullptr);
  CHECK(find_architecture(ElfIdentity{EM_AVR, 4, Endian::little}) == nullptr);
  CHECK(find_architecture("x86_64") == &kX86_64);
  CHECK(find_architecture("i386") == &kI386);
  CHECK(find_architecture("x32") == &kX32);
  CHECK(find_architecture("") == nullptr);
  CHECK(find_architecture("pdp11") == nullptr);
  CHECK(find_architecture("i386:x86-64") == nullptr);  // gdb's name
  for (const Architecture* arch : architectures()) {
    CHECK(find_architecture(arch->name) == arch);
    // An ABI that is told apart by its flags has some of its own: n32 of MIPS.
    const bool any_flags = arch->abi.accepts == nullptr || arch->abi.accepts(0);
    CHECK(find_architecture(ElfIdentity{arch->abi.elf_machine, arch->abi.pointer_size,
                                        arch->abi.endian, any_flags ? 0U : EF_MIPS_ABI2}) == arch);
  }
}

TEST_CASE("architectures: by what gdb says") {
  const auto of = [](std::string_view name, Endian endian, unsigned pointer_size,
                     unsigned register_size) -> std::string_view {
    const Architecture* arch =
        architecture_of_gdb(GdbTarget{name, endian, pointer_size, register_size});
    return arch == nullptr ? "" : arch->name;
  };
  CHECK(of("i386:x86-64", Endian::little, 8, 8) == "x86_64");
  CHECK(of("i386:x64-32", Endian::little, 4, 8) == "x32");
  CHECK(of("i386", Endian::little, 4, 4) == "i386");
  CHECK(of("aarch64", Endian::little, 8, 8) == "aarch64");
  CHECK(of("aarch64", Endian::big, 8, 8) == "aarch64_be");
  CHECK(of("i386:x86-64", Endian::big, 8, 8).empty());
  CHECK(of("x86_64", Endian::little, 8, 8).empty());  // our name
  CHECK(of("", Endian::little, 8, 8).empty());
  // One name for any ABI and byte order.
  for (const std::string_view name : {"mips", "mips:isa32r2", "mips:isa64r2", "mips:octeon"}) {
    CHECK(of(name, Endian::big, 4, 4) == "mips");
    CHECK(of(name, Endian::little, 4, 4) == "mipsel");
    CHECK(of(name, Endian::big, 8, 8) == "mips64");
    CHECK(of(name, Endian::little, 8, 8) == "mips64el");
    CHECK(of(name, Endian::big, 4, 8) == "mipsn32");
    CHECK(of(name, Endian::little, 4, 8) == "mipsn32el");
  }
  CHECK(of("mips:isa32r6", Endian::big, 4, 4).empty());
}

TEST_CASE("architectures: a core's by its register note where the header leaves it open") {
  const auto of = [](std::uint32_t flags, Endian endian, std::size_t size) -> std::string_view {
    const Architecture* arch = architecture_of_core(ElfIdentity{EM_MIPS, 4, endian, flags}, size);
    return arch == nullptr ? "" : arch->name;
  };
  CHECK(of(0, Endian::little, 256) == "mipsel");
  CHECK(of(0, Endian::little, 440) == "mipsn32el");
  CHECK(of(0, Endian::big, 440) == "mipsn32");
  CHECK(of(EF_MIPS_ABI2, Endian::little, 440) == "mipsn32el");
  CHECK(of(EF_MIPS_ABI2, Endian::little, 256) == "mipsel");
  // No ABI's, or that of another class: what the header says.
  for (const std::size_t size : {0, 255, 480}) {
    CHECK(of(0, Endian::little, size) == "mipsel");
    CHECK(of(EF_MIPS_ABI2, Endian::little, size) == "mipsn32el");
  }
  CHECK(of(0x90001407, Endian::little, 440).empty());  // release 6
  CHECK(architecture_of_core(ElfIdentity{EM_X86_64, 8, Endian::little}, 296) == &kX86_64);
}

TEST_CASE("architectures: register names and the psABI's numbers") {
  CHECK(kX86_64.register_named("rip") == Register{16});
  CHECK(kX86_64.register_named("rsp") == Register{7});
  CHECK(kX86_64.register_named("rbp") == Register{6});
  CHECK(kX86_64.register_named("rdx") == Register{1});
  CHECK(kX86_64.register_named("rcx") == Register{2});
  CHECK(kX86_64.register_named("fs_base") == Register{58});
  CHECK(kI386.register_named("esp") == Register{4});
  CHECK(kI386.register_named("ebp") == Register{5});
  CHECK(kI386.register_named("eip") == Register{8});
  CHECK_FALSE(kX86_64.register_named("").has_value());  // the gaps between the names
  CHECK_FALSE(kX86_64.register_named("eip").has_value());
  CHECK_FALSE(kI386.register_named("rip").has_value());
}

TEST_CASE("architectures: addresses wrap at the pointer size") {
  CHECK(kX86_64.address_mask() == ~Address{0});
  CHECK(kI386.address_mask() == 0xffffffffU);
}

TEST_CASE("architectures: machines that we cannot walk have names too") {
  CHECK(elf_machine(EM_X86_64).name == "x86-64");
  CHECK(elf_machine(EM_RISCV).name == "RISC-V");
  CHECK(elf_machine(0xfffe).name == "an unknown instruction set");
}

TEST_CASE("architectures: what marks code and data in sections is no function") {
  CHECK(elf_machine(EM_ARM).is_mark("$t"));
  CHECK(elf_machine(EM_ARM).is_mark("$d.12"));
  CHECK_FALSE(elf_machine(EM_ARM).is_mark("$x"));
  CHECK_FALSE(elf_machine(EM_ARM).is_mark("$total"));
  CHECK(elf_machine(EM_RISCV).is_mark("$xrv64i2p1"));
  CHECK_FALSE(elf_machine(EM_RISCV).is_mark("$data"));
  CHECK_FALSE(elf_machine(EM_X86_64).is_mark("$d"));
  CHECK_FALSE(elf_machine(EM_ARM).is_mark("$"));
}

TEST_CASE("architectures: the analysis follows the registers that every frame needs") {
  for (const Architecture* arch : architectures()) {
    const RegisterFile& all = arch->registers;
    CHECK(all.followed.has(all.sp));
    CHECK(all.followed.has(all.fp));
    CHECK(all.followed.has(all.return_address));
    CHECK(all.followed.has(all.link.value_or(all.sp)));
    CHECK(std::ranges::all_of(all.callee_saved,
                              [&](Register number) { return all.followed.has(number); }));
    CHECK(arch->code.longest_call <= kLongestLook);
  }
}

TEST_CASE("followed registers: large numbers have places behind the small ones, without gaps") {
  constexpr std::array<Register, 2> kBeyond = {65, 66};  // POWER's link and count registers
  constexpr FollowedRegisters followed(32, kBeyond);
  CHECK(followed.count() == 34);
  for (Register place = 0; place < followed.count(); ++place) {
    CHECK(followed.place(followed.number(place)) == place);
  }
  CHECK(followed.number(32) == 65);
  for (const Register number : std::to_array<Register>({32, 33, 34, 64, 67, 65535})) {
    CHECK_FALSE(followed.has(number));
    CHECK(followed.place(number) >= followed.count());
  }
  FollowedValues<int> values(followed);
  for (const Register number : std::to_array<Register>({31, 65, 32})) {
    values.set(number, number);
  }
  CHECK(values.get(31) == 31);
  CHECK(values.get(65) == 65);
  CHECK(values.get(32) == 0);  // is not followed
  CHECK(values.find([](Register, int value) { return value > 31; }) == Register{65});
  const FollowedValues<int> few(followed, 32);
  CHECK(few.count() == 32);
  values = few;
  values.set(65, 1);
  CHECK(values.get(65) == 0);
}

TEST_CASE("followed registers: without a word, all with small numbers") {
  constexpr FollowedRegisters followed;
  CHECK(followed.has(kFollowedLimit - 1));
  CHECK_FALSE(followed.has(kFollowedLimit));
  CHECK(followed.place(17) == 17);
  CHECK(followed.number(17) == 17);
}

TEST_CASE("architectures: by what uname says of the machine") {
  const auto of = [](std::string_view machine, unsigned pointer_size,
                     Endian endian) -> std::string_view {
    const Architecture* arch = architecture_of_host(machine, pointer_size, endian);
    return arch == nullptr ? "" : arch->name;
  };
  CHECK(of("x86_64", 8, Endian::little) == "x86_64");
  CHECK(of("x86_64", 4, Endian::little) == "i386");
  CHECK(of("i686", 4, Endian::little) == "i386");
  CHECK(of("aarch64", 8, Endian::little) == "aarch64");
  CHECK(of("aarch64", 4, Endian::little) == "arm");
  CHECK(of("armv7l", 4, Endian::little) == "arm");
  // One word for both byte orders.
  CHECK(of("mips", 4, Endian::big) == "mips");
  CHECK(of("mips", 4, Endian::little) == "mipsel");
  CHECK(of("mips64", 8, Endian::little) == "mips64el");
  CHECK(of("mips64", 4, Endian::big) == "mips");
  CHECK(of("vax", 4, Endian::little).empty());
  CHECK(of("x86_64", 8, Endian::big).empty());
}

}  // namespace
}  // namespace whocall::test
