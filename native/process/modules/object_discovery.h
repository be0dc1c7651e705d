// Finds what is loaded in a process by every trace that loading leaves.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base/budget.h"
#include "memory/memory.h"
#include "process/auxiliary_vector.h"
#include "process/modules/loaded_files.h"
#include "process/modules/loaded_object.h"
#include "process/process_image.h"
#include "process/told_module.h"

namespace whocall {

// What is known of a process before its modules are. References and views must outlive it.
struct ProcessEvidence {
  const Architecture& arch;
  const Memory& memory;
  std::span<const Mapping> mappings;
  AuxiliaryVector auxiliary;
  std::string program_name;  // the first word of its arguments, or its short name; may be empty
  std::vector<LoadedFile> files;      // as a debugger has loaded them
  std::vector<ToldModule> told = {};  // as a converted dump lists them
  // What looking for modules may cost, in all.
  std::shared_ptr<Budget> budget = std::make_shared<Budget>("The process", 0);
};

// A file that is taken for an object's, and where it was loaded.
struct FileAtPlace {
  std::shared_ptr<const ElfFile> file;  // never null
  Address bias = 0;                     // runtime address = link address + bias
};

// The file of an object that memory tells no headers of; a miss when none is found.
using FileOfObject = std::function<std::optional<FileAtPlace>(const LoadedObject&)>;

// In this order, each step adding what the ones before did not cover: mapped files, the files that
// a debugger names, the main program by the auxiliary vector, the dynamic linker's list, the
// dynamic linker itself, the vDSO; and, where no mapping names a file, ELF headers at the starts
// of mappings. At most one object is the main program.
//
// qemu-user dumps no page of code. Where a program's headers lie in one (most linkers outside x86
// put them there), `file_of` lends those of its file, which lead on to the dynamic linker's list.
std::vector<LoadedObject> discover_objects(const ProcessEvidence& evidence,
                                           const FileOfObject& file_of);

}  // namespace whocall
