#include "unwind/walk/chain_evidence.h"

#include <array>

namespace whocall {
namespace {

constexpr int kEnough = 4;         // links
constexpr int kEnoughToAFile = 2;  // links up to a call in the code of a file
constexpr Address kLargestFrame = Address{1} << 20U;

bool behind_call_in_a_file(Address pc, const ProcessImage& process) {
  const Architecture& arch = *process.arch;
  const Module* module = process.module_at(pc - 1);
  std::array<std::byte, 16> bytes{};
  const auto before = std::span(bytes).first(arch.longest_call);
  return module != nullptr && module->file != nullptr &&
         process.memory->read(pc - before.size(), before) == before.size() &&
         arch.call_before(ByteView(before, arch.endian), pc).has_value();
}

}  // namespace

bool chain_holds(const Activation& callee, const ProcessImage& process) {
  const Architecture& arch = *process.arch;
  const FramePointerLayout& layout = arch.frame_pointer;
  const auto word_at = [&](Address address) {
    return process.memory->read_unsigned(address, arch.pointer_size, arch.endian);
  };
  auto fp = callee.registers.get(arch.fp);
  const Mapping* stack = fp ? process.mapping_at(*fp) : nullptr;
  for (int links = 1; fp && stack != nullptr && *fp % arch.pointer_size == 0; ++links) {
    const auto saved = word_at(*fp + static_cast<Address>(layout.saved_fp_offset));
    const auto pc = word_at(*fp + static_cast<Address>(layout.return_address_offset));
    if (!saved || !pc || *pc == 0) {
      return false;
    }
    const Address code = arch.code_address(*pc);
    if (!process.is_code(code - 1) || stack->range.contains(code)) {
      return false;
    }
    if (links == kEnough || (links >= kEnoughToAFile && behind_call_in_a_file(code, process))) {
      return true;
    }
    const bool goes_up =
        *saved > *fp && *saved - *fp < kLargestFrame && stack->range.contains(*saved);
    fp = goes_up ? saved : std::nullopt;
  }
  return false;
}

}  // namespace whocall
