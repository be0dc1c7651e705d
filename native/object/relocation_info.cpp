#include "object/relocation_info.h"

#include "arch/elf_machine.h"

namespace whocall {

RelocationInfo relocation_info(const ElfFile& file, std::uint64_t info) {
  const auto low = [](std::uint64_t word) {
    return static_cast<std::uint32_t>(word & 0xffffffffU);
  };
  if (file.pointer_size() != 8) {
    return {low(info >> 8U), low(info & 0xffU)};
  }
  if (!elf_machine(file.machine()).has_symbol_first) {
    return {low(info >> 32U), low(info)};
  }
  return file.endian() == Endian::little ? RelocationInfo{low(info), low(info >> 56U)}
                                         : RelocationInfo{low(info >> 32U), low(info & 0xffU)};
}

}  // namespace whocall
