#include "object/global_offset_table.h"

#include <elf.h>

#include <algorithm>

#include "arch/architecture.h"
#include "arch/elf_machine.h"
#include "object/elf_dynamic.h"

namespace whocall {

GlobalTable global_table(const ElfFile& file) {
  GlobalTable table;
  table.address = ElfDynamic(file).value(DT_PLTGOT).value_or(0);
  if (table.address == 0 && elf_machine(file.machine()).counts_from_got_section) {
    const ElfSection* section = file.section(".got");
    table.address = section != nullptr ? section->address : 0;
  }
  table.read = [&file](Address address, std::span<std::byte> out) {
    const auto bytes = file.at(address).bytes();
    const std::size_t size = std::min(bytes.size(), out.size());
    std::copy_n(bytes.begin(), size, out.begin());
    return size;
  };
  const Architecture* arch = find_architecture(file.identity());
  if (arch != nullptr && arch->linkage.global_pointer != nullptr && file.entry() != 0) {
    table.pointer = arch->linkage.global_pointer(file.at(file.entry()), file.entry());
  }
  return table;
}

}  // namespace whocall
