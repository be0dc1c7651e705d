// Turns what is loaded in a process into modules with the files that belong to them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "process/modules/object_discovery.h"
#include "process/process_image.h"

namespace whocall {

struct ModuleSearch {
  const FileSearch& files;
  std::int64_t pid = 0;      // of a live process; 0 for cores
  std::string process_root;  // see FileFinder
};

// Fills image.modules (sorted, disjoint), image.exe_path and the protections of mappings whose
// permissions are not known; warns about a program that the user named in vain. `evidence` must
// describe the same image.
void find_modules(ProcessImage& image, const ProcessEvidence& evidence, const ModuleSearch& search);

}  // namespace whocall
