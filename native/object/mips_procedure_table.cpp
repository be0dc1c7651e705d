#include "object/mips_procedure_table.h"

#include "arch/elf_machine.h"

namespace whocall {
namespace {

constexpr std::uint64_t kDescriptor = 32;  // bytes

}  // namespace

std::vector<Address> procedure_starts(const ElfFile& file) {
  std::vector<Address> starts;
  const std::string_view name = elf_machine(file.machine()).procedure_section;
  const ElfSection* section = name.empty() ? nullptr : file.section(name);
  const auto bytes = section != nullptr ? file.contents(*section) : std::nullopt;
  const Address upper = file.load_range().begin & ~Address{0xffffffff};
  for (std::uint64_t at = 0; bytes && at + kDescriptor <= bytes->size(); at += kDescriptor) {
    starts.push_back(upper | bytes->read<std::uint32_t>(at).value_or(0));
  }
  return starts;
}

}  // namespace whocall
