// The auxiliary vector: what the kernel told the program at its start (AT_*).
#pragma once

#include <cstdint>
#include <optional>

#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

// All addresses are runtime addresses; empty where the vector lacks them or says 0.
struct AuxiliaryVector {
  std::optional<Address> program_headers;  // AT_PHDR: of the main program
  std::optional<Address> entry;            // AT_ENTRY: of the main program
  std::optional<Address> interpreter;      // AT_BASE: where the dynamic linker was loaded
  std::optional<Address> vdso;             // AT_SYSINFO_EHDR: the vDSO's ELF header
  std::optional<Address> program_path;     // AT_EXECFN: the path given to execve, a string
  std::uint64_t program_header_count = 0;  // AT_PHNUM
  std::uint64_t program_header_size = 0;   // AT_PHENT: bytes of each

  // Takes in a pair of the vector; types that nobody asks for (AT_UID, AT_HWCAP) are left out.
  void set(std::uint64_t type, std::uint64_t value);
};

// `contents` are pairs of words of `pointer_size` bytes, up to AT_NULL or the end.
AuxiliaryVector parse_auxiliary_vector(ByteView contents, unsigned pointer_size);

}  // namespace whocall
