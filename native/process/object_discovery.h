// Finds what is loaded in a process by every trace that loading leaves.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "memory/memory.h"
#include "process/auxiliary_vector.h"
#include "process/mapped_object.h"
#include "process/process_image.h"

namespace whocall {

// What is known of a process before its modules are. References and views must outlive it.
struct ProcessEvidence {
  const Architecture& arch;
  const Memory& memory;
  std::span<const Mapping> mappings;
  AuxiliaryVector auxiliary;
  std::string program_name;  // the first word of its arguments, or its short name; may be empty
  std::vector<InferiorSnapshot::File> files;  // as a debugger has loaded them
};

// In this order, each step adding what the ones before did not cover: mapped files, the files that
// a debugger names, the main program by the auxiliary vector, the dynamic linker's list, the
// dynamic linker itself, the vDSO; and, where no mapping names a file, ELF headers at the starts
// of mappings. At most one object is the main program.
std::vector<MappedObject> discover_objects(const ProcessEvidence& evidence);

}  // namespace whocall
