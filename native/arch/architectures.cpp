// The list of instruction sets: a new one gets a row here.
#include <algorithm>

#include "arch/aarch64/call_facts.h"
#include "arch/aarch64/facts.h"
#include "arch/architecture.h"
#include "arch/arm/call_facts.h"
#include "arch/arm/facts.h"
#include "arch/loongarch/facts.h"
#include "arch/mips/facts.h"
#include "arch/riscv/call_facts.h"
#include "arch/riscv/facts.h"
#include "arch/system_call_abi.h"
#include "arch/x86/call_facts.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x32_facts.h"
#include "arch/x86/x86_64_facts.h"

namespace whocall {
namespace {

constexpr std::array<const Architecture*, 15> kArchitectures = {
    &kX86_64, &kI386,   &kX32,      &kAArch64, &kAArch64Be, &kArm,     &kArmeb,      &kMips,
    &kMipsel, &kMips64, &kMips64el, &kMipsN32, &kMipsN32el, &kRiscv64, &kLoongArch64};

struct CallAbiRow {
  const Architecture* arch;
  const SystemCallAbi* abi;
};
constexpr std::array<CallAbiRow, 8> kCallAbis = {{{&kX86_64, &x86::k64CallAbi},
                                                  {&kI386, &x86::k32CallAbi},
                                                  {&kX32, &x86::kX32CallAbi},
                                                  {&kAArch64, &aarch64::kCallAbi},
                                                  {&kAArch64Be, &aarch64::kCallAbi},
                                                  {&kArm, &arm::kCallAbi},
                                                  {&kArmeb, &arm::kCallAbi},
                                                  {&kRiscv64, &riscv::kCallAbi}}};

}  // namespace

const SystemCallAbi* system_call_abi(const Architecture& arch) {
  const auto* const found = std::ranges::find_if(  // it may be a copy with signed pointers
      kCallAbis, [&](const CallAbiRow& row) { return row.arch->name == arch.name; });
  return found == kCallAbis.end() ? nullptr : found->abi;
}

std::span<const Architecture* const> architectures() { return kArchitectures; }

const Architecture* find_architecture(const ElfIdentity& file) {
  const auto* const found = std::ranges::find_if(
      kArchitectures, [&](const Architecture* arch) { return arch->abi.is_of(file); });
  return found == kArchitectures.end() ? nullptr : *found;
}

const Architecture* find_architecture(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kArchitectures, [&](const Architecture* arch) { return arch->name == name; });
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

}  // namespace whocall
