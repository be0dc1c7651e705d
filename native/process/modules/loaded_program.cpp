#include "process/modules/loaded_program.h"

#include <elf.h>

#include <algorithm>
#include <vector>

#include "object/elf_header.h"

namespace whocall {
namespace {

constexpr std::size_t kTableLimit = 64 * 1024;  // bytes; real programs have a dozen headers

std::vector<ElfSegment> segments_at(const Memory& memory, const AuxiliaryVector& auxiliary,
                                    const Architecture& arch) {
  ElfHeader table;
  table.identity.pointer_size = arch.abi.pointer_size;
  const std::uint64_t stride = arch.abi.pointer_size == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  if (auxiliary.program_header_size != stride ||
      auxiliary.program_header_count > kTableLimit / stride) {
    return {};
  }
  std::vector<std::byte> bytes(auxiliary.program_header_count * stride);
  bytes.resize(memory.read(*auxiliary.program_headers, bytes));
  table.segment_stride = stride;
  table.segment_count = bytes.size() / stride;
  return parse_segments(ByteView(bytes, arch.abi.endian), table);
}

std::optional<LoadedElf> image_of_headers(const Memory& memory, const AuxiliaryVector& auxiliary,
                                          const Architecture& arch) {
  LoadedElf image;
  image.segments = segments_at(memory, auxiliary, arch);
  const ElfSegment* self = segment_of_type(image.segments, PT_PHDR);
  const ElfSegment* first = segment_of_type(image.segments, PT_LOAD);
  if (self == nullptr || first == nullptr) {
    return std::nullopt;
  }
  image.program_headers = *auxiliary.program_headers;
  image.bias = image.program_headers - self->address;
  image.header = first->address - first->offset + image.bias;
  image.type = image.bias == 0 ? ET_EXEC : ET_DYN;
  image.entry = auxiliary.entry ? *auxiliary.entry - image.bias : 0;
  return image;
}

}  // namespace

std::optional<LoadedElf> read_loaded_program(const Memory& memory, const AuxiliaryVector& auxiliary,
                                             const Architecture& arch) {
  if (!auxiliary.program_headers) {
    return std::nullopt;
  }
  const Address header_size = arch.abi.pointer_size == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  auto image = read_loaded_elf(memory, *auxiliary.program_headers - header_size, arch);
  return image ? image : image_of_headers(memory, auxiliary, arch);
}

}  // namespace whocall
