#include "process/loaded_files.h"

#include <elf.h>

#include "process/link_map.h"
#include "process/memory_text.h"
#include "process/program_image.h"

namespace whocall {

std::vector<InferiorSnapshot::File> loaded_files(const Memory& memory,
                                                 const AuxiliaryVector& auxiliary,
                                                 const Architecture& arch,
                                                 const std::string& program) {
  const auto image = read_program_image(memory, auxiliary, arch);
  std::vector<InferiorSnapshot::File> files = {{program, image ? image->bias : 0, true}};
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
