#include "unwind/code/blank_code.h"

#include <elf.h>

#include <algorithm>
#include <array>

namespace whocall {
namespace {

constexpr std::size_t kAround = 16;  // bytes on either side

// Files are reduced by zeros, as erased memory reads (all bits set), or by a mask of both.
bool all_blank(Address begin, const Memory& memory) {
  std::array<std::byte, 2 * kAround> bytes{};
  const std::size_t size = memory.read(begin, bytes);
  return size != 0 && std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                                  [](std::byte byte) {
                                    return byte == std::byte{0} || byte == std::byte{0xff};
                                  });
}

bool lies_in_code_section(const Module& module, Address link) {
  return std::ranges::any_of(module.file->sections(), [&](const ElfSection& section) {
    return (section.flags & SHF_EXECINSTR) != 0 && section.range().contains(link);
  });
}

}  // namespace

bool is_blank_code(Address address, const ProcessImage& process, CodeMap& code) {
  if (address < kAround || !all_blank(address - kAround, *process.memory)) {
    return false;
  }
  const Module* module = process.module_at(address);
  return module != nullptr && module->file != nullptr &&
         (code.has_exact_bounds(address) ||
          lies_in_code_section(*module, module->link_address(address)));
}

}  // namespace whocall
