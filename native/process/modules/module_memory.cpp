#include "process/modules/module_memory.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "files/file_finder.h"
#include "memory/layered_memory.h"
#include "memory/segment_memory.h"

namespace whocall {
namespace {

std::unique_ptr<Memory> memory_of_files(const ProcessImage& image) {
  std::vector<SegmentMemory::Segment> segments;
  std::vector<std::shared_ptr<const void>> owners;
  for (const Module& module : image.modules) {
    if (module.state != ModuleState::found || module.file == nullptr ||
        is_debug_only(*module.file)) {
      continue;
    }
    owners.push_back(module.file);
    for (const ElfSegment& segment : module.file->segments()) {
      const Address begin = module.runtime_address(segment.address);
      const Mapping* mapping = image.mapping_at(begin);
      if (segment.type != PT_LOAD || (segment.flags & PF_W) != 0 ||
          (mapping != nullptr && mapping->writable)) {
        continue;
      }
      const ByteView bytes = module.file->bytes().from(segment.offset);
      segments.push_back(
          {begin, bytes.bytes().first(std::min<std::uint64_t>(bytes.size(), segment.file_size))});
    }
  }
  return std::make_unique<SegmentMemory>(std::move(segments), std::move(owners));
}

}  // namespace

void put_memory(ProcessImage& image, std::unique_ptr<Memory> memory) {
  std::vector<std::unique_ptr<Memory>> layers;
  layers.push_back(std::move(memory));
  layers.push_back(memory_of_files(image));
  image.memory = std::make_unique<LayeredMemory>(std::move(layers));
}

}  // namespace whocall
