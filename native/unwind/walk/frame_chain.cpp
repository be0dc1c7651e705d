#include "unwind/walk/frame_chain.h"

namespace whocall {

std::vector<ChainLink> decode_frame_chain(const Architecture& arch, const Registers& registers,
                                          const Memory& memory) {
  const FramePointerLayout& layout = arch.frame_pointer;
  const auto word_at = [&](Address address) {
    return memory.read_unsigned(address & arch.address_mask(), arch.pointer_size, arch.endian);
  };
  std::vector<ChainLink> chain;
  auto fp = registers.get(arch.fp);
  while (fp && *fp != 0) {
    const auto return_address = word_at(*fp + static_cast<Address>(layout.return_address_offset));
    const auto saved = word_at(*fp + static_cast<Address>(layout.saved_fp_offset));
    if (!return_address || *return_address == 0 || !saved) {
      break;
    }
    chain.push_back(
        {arch.code_address(*return_address), *fp + static_cast<Address>(layout.cfa_offset)});
    fp = *saved > *fp ? saved : std::nullopt;
  }
  return chain;
}

}  // namespace whocall
