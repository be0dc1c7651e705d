#include "process/auxiliary_vector.h"

#include <elf.h>

#include "base/byte_reader.h"

namespace whocall {

AuxiliaryVector parse_auxiliary_vector(ByteView contents, unsigned pointer_size) {
  AuxiliaryVector result;
  ByteReader reader(contents);
  while (true) {
    const std::uint64_t type = reader.fixed(pointer_size);
    const Address value = reader.fixed(pointer_size);
    if (!reader.ok() || type == AT_NULL) {
      return result;
    }
    if (value == 0) {
      continue;
    }
    if (type == AT_PHDR) {
      result.program_headers = value;
    } else if (type == AT_ENTRY) {
      result.entry = value;
    } else if (type == AT_BASE) {
      result.interpreter = value;
    } else if (type == AT_SYSINFO_EHDR) {
      result.vdso = value;
    } else if (type == AT_EXECFN) {
      result.program_path = value;
    }
  }
}

}  // namespace whocall
