// Where the logs of JIT compilers lie, and whether they are of this very process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "process/process_image.h"

namespace whocall {

// A perf map that may be read.
struct PerfMapFile {
  std::string path;
  std::string text;
  bool unproven = false;  // lies in /tmp by chance: only its contents can tell
};

struct JitFiles {
  std::vector<std::shared_ptr<const MappedFile>> jitdumps;
  std::vector<PerfMapFile> perf_maps;
  std::vector<std::string> remarks;  // on those that are not used, sentences
};

// Never throws.
JitFiles find_jit_files(const ProcessImage& process);

}  // namespace whocall
