#include "runtime/description.h"

#include "runtime/debug_files.h"
#include "runtime/mapped_modules.h"
#include "runtime/modules.h"
#include "runtime/names.h"

namespace whocall::runtime {

void describe(std::uintptr_t address, std::uintptr_t lookup, whocall_trust trust, bool thorough,
              whocall_frame& frame) {
  frame = {};
  frame.address = address;
  frame.offset = address;
  frame.module = "";
  frame.trust = trust;
  Module module;
  if (!find_module(lookup, module) && !(thorough && find_mapped_module(lookup, module))) {
    return;
  }
  frame.offset = address - module.bias;
  frame.module = path_of(module);
  const BuildId id = build_id(module);
  frame.build_id = id.bytes;
  frame.build_id_size = id.size;
  const FunctionName found = find_name(module, lookup - module.bias);
  frame.function = found.name;
  frame.function_offset = found.name == nullptr ? 0 : frame.offset - found.begin;
}

}  // namespace whocall::runtime
