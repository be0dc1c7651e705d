#include "process/auxiliary_vector.h"

#include <elf.h>

#include "base/byte_reader.h"

namespace whocall {

void AuxiliaryVector::set(std::uint64_t type, std::uint64_t value) {
  if (value == 0) {
    return;
  }
  if (type == AT_PHDR) {
    program_headers = value;
  } else if (type == AT_PHNUM) {
    program_header_count = value;
  } else if (type == AT_PHENT) {
    program_header_size = value;
  } else if (type == AT_ENTRY) {
    entry = value;
  } else if (type == AT_BASE) {
    interpreter = value;
  } else if (type == AT_SYSINFO_EHDR) {
    vdso = value;
  } else if (type == AT_EXECFN) {
    program_path = value;
  }
}

AuxiliaryVector parse_auxiliary_vector(ByteView contents, unsigned pointer_size) {
  AuxiliaryVector result;
  ByteReader reader(contents);
  while (true) {
    const std::uint64_t type = reader.fixed(pointer_size);
    const Address value = reader.fixed(pointer_size);
    if (!reader.ok() || type == AT_NULL) {
      return result;
    }
    result.set(type, value);
  }
}

}  // namespace whocall
