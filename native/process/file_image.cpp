#include "process/file_image.h"

#include <elf.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "memory/segment_memory.h"

namespace whocall {

std::unique_ptr<ProcessImage> image_of_file(const std::shared_ptr<const ElfFile>& file,
                                            const Architecture& arch) {
  auto image = std::make_unique<ProcessImage>();
  image->arch = &arch;
  image->exe_path = file->path();
  std::vector<SegmentMemory::Segment> pieces;
  for (const ElfSegment& segment : file->segments()) {
    if (segment.type != PT_LOAD) {
      continue;
    }
    const ByteView bytes = file->at(segment.address);
    const auto size = std::min<std::uint64_t>(segment.file_size, bytes.size());
    pieces.push_back({segment.address, bytes.bytes().first(size)});
  }
  image->memory = std::make_unique<SegmentMemory>(std::move(pieces),
                                                  std::vector<std::shared_ptr<const void>>{file});
  Module module;
  module.path = file->path();
  module.file_path = file->path();
  module.range = file->load_range();
  module.build_id_on_disk = file->build_id();
  module.state = ModuleState::found;
  module.is_executable = true;
  module.file = file;
  image->modules.push_back(std::move(module));
  return image;
}

}  // namespace whocall
