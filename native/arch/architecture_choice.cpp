#include "arch/architecture_choice.h"

#include <algorithm>

namespace whocall {
namespace {

template <typename Test>
const Architecture* first_that(const Test& test) {
  const auto known = architectures();
  const auto found =
      std::ranges::find_if(known, [&](const Architecture* arch) { return test(*arch); });
  return found == known.end() ? nullptr : *found;
}

}  // namespace

const Architecture* architecture_of_gdb(const GdbTarget& target) {
  return first_that([&](const Architecture& arch) {
    return arch.abi.endian == target.endian && arch.abi.pointer_size == target.pointer_size &&
           arch.registers.size == target.register_size &&
           std::ranges::find(arch.gdb_names, target.name) != arch.gdb_names.end();
  });
}

const Architecture* architecture_of_host(std::string_view machine, unsigned pointer_size,
                                         Endian endian) {
  return first_that([&](const Architecture& arch) {
    return arch.abi.endian == endian && arch.abi.pointer_size == pointer_size &&
           std::ranges::find(arch.abi.host_names, machine) != arch.abi.host_names.end();
  });
}

const Architecture* architecture_of_core(const ElfIdentity& header,
                                         std::size_t register_note_size) {
  const Architecture* by_header = find_architecture(header);
  if (by_header == nullptr || by_header->os.prstatus.size == register_note_size) {
    return by_header;
  }
  const Architecture* by_note = first_that([&](const Architecture& arch) {
    return arch.abi.elf_machine == header.machine && arch.abi.pointer_size == header.pointer_size &&
           arch.abi.endian == header.endian && arch.os.prstatus.size == register_note_size;
  });
  return by_note == nullptr ? by_header : by_note;
}

}  // namespace whocall
