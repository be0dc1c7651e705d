#include "object/elf_architecture.h"
#include "arch/elf_machine.h"

#include <string>

#include "base/error.h"

namespace whocall {

const Architecture& require_architecture(const std::string& path, const ElfIdentity& identity) {
  const Architecture* arch = find_architecture(identity);
  if (arch != nullptr) {
    return *arch;
  }
  throw Error(path,
              "is of an instruction set that whocall does not know: " +
                  std::string(elf_machine(identity.machine).name) + " (" +
                  std::to_string(8 * identity.pointer_size) + " bits, " +
                  (identity.endian == Endian::little ? "little" : "big") + " endian)",
              "It knows " + architecture_names([](const Architecture&) { return true; }));
}

const Architecture& architecture_of(const ElfFile& file) {
  return require_architecture(file.path(), file.identity());
}

}  // namespace whocall
