#include "runtime/names.h"

#include "runtime/debug_files.h"
#include "runtime/machine.h"

namespace whocall::runtime {

FunctionName find_name(const Module& module, std::uintptr_t link_address) {
  const KnownFile* const known = known_file(module);
  if (known == nullptr) {
    return {};
  }
  for (const FunctionTable* each : {&known->own, &known->debug, &known->dynamic}) {
    if (const ElfW(Sym)* const found = find_function(*each, link_address)) {
      return {each->symbols.strings + found->st_name, found->st_value & kCodeMask, found->st_size,
              found->st_value & ~kCodeMask};
    }
  }
  return {};
}

}  // namespace whocall::runtime
