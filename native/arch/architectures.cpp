// The list of instruction sets: a new one gets a row here.
#include <elf.h>

#include <algorithm>

#include "arch/architecture.h"
#include "arch/i386.h"
#include "arch/x32.h"
#include "arch/x86_64.h"

namespace whocall {
namespace {

constexpr std::array<const Architecture*, 3> kArchitectures = {&kX86_64, &kI386, &kX32};

}  // namespace

std::span<const Architecture* const> architectures() { return kArchitectures; }

const Architecture* find_architecture(const ElfIdentity& file) {
  const auto* const found = std::ranges::find_if(
      kArchitectures, [&](const Architecture* arch) { return arch->abi.is_of(file); });
  return found == kArchitectures.end() ? nullptr : *found;
}

const Architecture* find_architecture(std::string_view name) {
  const auto* const found = std::ranges::find_if(kArchitectures, [&](const Architecture* arch) {
    return arch->name == name || std::ranges::find(arch->gdb_names, name) != arch->gdb_names.end();
  });
  return found == kArchitectures.end() ? nullptr : *found;
}

std::optional<Register> Architecture::register_named(std::string_view register_name) const {
  const auto found = std::ranges::find(registers.names, register_name);
  if (register_name.empty() || found == registers.names.end()) {
    return std::nullopt;
  }
  return static_cast<Register>(found - registers.names.begin());
}

std::string architecture_names(bool (*has)(const Architecture&)) {
  std::string names;
  for (const Architecture* arch : kArchitectures) {
    if (has(*arch)) {
      names += (names.empty() ? "" : ", ") + std::string(arch->name);
    }
  }
  return names;
}

std::string_view elf_machine_name(std::uint16_t elf_machine) {
  switch (elf_machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "ARM";
    case EM_AARCH64:
      return "AArch64";
    case EM_MIPS:
      return "MIPS";
    case EM_PPC:
      return "PowerPC";
    case EM_PPC64:
      return "PowerPC 64-bit";
    case EM_S390:
      return "IBM Z";
    case EM_RISCV:
      return "RISC-V";
    case EM_LOONGARCH:
      return "LoongArch";
    case EM_SPARCV9:
    case EM_SPARC:
      return "SPARC";
    default:
      return "an unknown instruction set";
  }
}

}  // namespace whocall
