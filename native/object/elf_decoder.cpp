#include "object/elf_decoder.h"

#include <algorithm>

namespace whocall {

std::unique_ptr<InstructionDecoder> decoder_for(const ElfFile& file, const Architecture& arch) {
  return decoder_for(arch, [&file](Address address, std::span<std::byte> out) {
    const auto bytes = file.at(address).bytes();
    const std::size_t size = std::min(bytes.size(), out.size());
    std::ranges::copy(bytes.first(size), out.begin());
    return size;
  });
}

}  // namespace whocall
