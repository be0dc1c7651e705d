#include "process/modules/loaded_files.h"

#include <elf.h>

#include "memory/memory_text.h"
#include "process/modules/link_map.h"
#include "process/modules/loaded_program.h"

namespace whocall {

std::vector<LoadedFile> loaded_files(const Memory& memory, const AuxiliaryVector& auxiliary,
                                     const Architecture& arch, const std::string& program) {
  const auto image = read_loaded_program(memory, auxiliary, arch);
  std::vector<LoadedFile> files = {{program, image ? image->bias : 0, true}};
  if (!image) {
    return files;
  }
  // The program's own entry has no path, the vDSO's is no file.
  for (const LinkMapEntry& entry : read_link_map(memory, *image, arch)) {
    if (entry.path.starts_with('/')) {
      files.push_back({entry.path, entry.bias, false});
    }
  }
  const ElfSegment* interpreter = segment_of_type(image->segments, PT_INTERP);
  if (files.size() == 1 && interpreter != nullptr && auxiliary.interpreter) {
    const Address name = interpreter->address + image->bias;
    files.push_back({read_string(memory, name), *auxiliary.interpreter, false});
  }
  return files;
}

}  // namespace whocall
