#include "object/elf_architecture.h"

#include <string>

#include "base/error.h"

namespace whocall {

const Architecture& require_architecture(const std::string& path, std::uint16_t elf_machine,
                                         unsigned pointer_size, Endian endian) {
  const Architecture* arch = find_architecture(elf_machine, pointer_size, endian);
  if (arch != nullptr) {
    return *arch;
  }
  std::string known;
  for (const Architecture* one : architectures()) {
    known += (known.empty() ? "" : ", ") + std::string(one->name);
  }
  throw Error(path,
              "is of an instruction set that whocall does not know: " +
                  std::string(elf_machine_name(elf_machine)) + " (" +
                  std::to_string(8 * pointer_size) + " bits, " +
                  (endian == Endian::little ? "little" : "big") + " endian)",
              "It knows " + known);
}

const Architecture& architecture_of(const ElfFile& file) {
  return require_architecture(file.path(), file.machine(), file.pointer_size(), file.endian());
}

}  // namespace whocall
