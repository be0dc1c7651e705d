// Sources: ELF for the ARM Architecture, "Mapping symbols", and its kin for AArch64; the RISC-V ELF
// psABI (an ISA string may follow $x); <elf.h>.
#include "arch/elf_machine.h"

#include <elf.h>

#include <algorithm>
#include <array>

namespace whocall {
namespace {

constexpr std::uint16_t kAlpha = 0x9026;             // what Alpha's files really say
constexpr std::uint8_t kThumbFunction = STT_LOPROC;  // STT_ARM_TFUNC, before the EABI

constexpr std::array<ElfMachine, 13> kMachines = {{
    {.number = EM_X86_64, .name = "x86-64"},
    {.number = EM_386, .name = "i386"},
    {.number = EM_ARM,
     .name = "ARM",
     .function_mode_bits = 1,
     .function_type = kThumbFunction,
     .marks = "adt",
     .exception_index = PT_ARM_EXIDX},
    {.number = EM_AARCH64, .name = "AArch64", .marks = "xd", .has_counted_slots = true},
    {.number = EM_MIPS,
     .name = "MIPS",
     .has_rld_map = true,
     .procedure_section = ".pdr",
     .stub_section = ".MIPS.stubs",
     .local_words_tag = DT_MIPS_LOCAL_GOTNO,
     .first_symbol_tag = DT_MIPS_GOTSYM,
     .counts_from_got_section = true,
     .has_symbol_first = true,
     .has_code_first = true},
    {.number = EM_PPC, .name = "PowerPC"},
    {.number = EM_PPC64, .name = "PowerPC 64-bit"},
    {.number = EM_S390, .name = "IBM Z", .wide_hash_pointer = 8},
    {.number = EM_RISCV, .name = "RISC-V", .marks = "xd", .marks_with_text = "x"},
    {.number = EM_LOONGARCH, .name = "LoongArch"},
    {.number = EM_SPARC, .name = "SPARC"},
    {.number = EM_SPARCV9, .name = "SPARC"},
    {.number = kAlpha, .name = "Alpha", .wide_hash_pointer = 8},
}};
constexpr ElfMachine kUnknown = {.name = "an unknown instruction set"};

}  // namespace

bool ElfMachine::is_mark(std::string_view symbol) const {
  if (symbol.size() < 2 || symbol[0] != '$') {
    return false;
  }
  const bool alone = symbol.size() == 2 || symbol[2] == '.';
  const auto has = [&](std::string_view letters) {
    return letters.find(symbol[1]) != std::string_view::npos;
  };
  return has(marks_with_text) || (alone && has(marks));
}

const ElfMachine& elf_machine(std::uint16_t number) {
  const auto* const found = std::ranges::find(kMachines, number, &ElfMachine::number);
  return found == kMachines.end() ? kUnknown : *found;
}

}  // namespace whocall
