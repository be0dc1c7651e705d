// What tells of a function that nothing names: who calls it, which text it uses, what it calls.
#pragma once

#include <string>
#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"

namespace whocall {

struct FunctionTraits {
  std::string only_caller;           // with a name, where nothing else calls it or points to it
  std::string only_text;             // the longest that nothing else in the file names
  std::vector<std::string> imports;  // functions of other files that it calls, in their order

  [[nodiscard]] bool none() const {
    return only_caller.empty() && only_text.empty() && imports.empty();
  }
};

// Of the function with these ranges (link addresses), its start first. Looks through all code.
FunctionTraits function_traits(const ElfFile& file, const Architecture& arch,
                               const std::vector<AddressRange>& ranges);

}  // namespace whocall
