// The list by which JIT compilers tell debuggers of their code (GDB's manual, "JIT Compilation
// Interface"): __jit_debug_descriptor and the entries that it leads to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "memory/memory.h"

namespace whocall {

// An ELF file in the memory of the process.
struct JitRegistration {
  Address address = 0;     // runtime
  std::uint64_t size = 0;  // bytes
};

struct JitRegistry {
  std::vector<JitRegistration> files;  // as listed: compilers put the newest first
  std::string remark;                  // a sentence on why the list is not whole; may be empty
};

// The list of the descriptor at a runtime address; `owner` names the module in the remark. Ends at
// what cannot be read, at an entry that was there before, and after 65536 entries.
JitRegistry read_jit_registry(const Memory& memory, const Architecture& arch, Address descriptor,
                              const std::string& owner);

}  // namespace whocall
