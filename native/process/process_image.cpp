#include "process/process_image.h"

#include <elf.h>

#include <algorithm>

namespace whocall {
namespace {

// The element of a vector sorted by range.begin whose range holds `address`.
template <typename Ranged>
const Ranged* find_by_range(const std::vector<Ranged>& sorted, Address address) {
  const auto after = std::upper_bound(
      sorted.begin(), sorted.end(), address,
      [](Address wanted, const Ranged& element) { return wanted < element.range.begin; });
  if (after == sorted.begin() || !(after - 1)->range.contains(address)) {
    return nullptr;
  }
  return &*(after - 1);
}

bool in_executable_segment(const Module& module, Address runtime) {
  const Address link = module.link_address(runtime);
  return std::ranges::any_of(module.file->segments(), [&](const ElfSegment& segment) {
    return segment.type == PT_LOAD && (segment.flags & PF_X) != 0 && link >= segment.address &&
           link - segment.address < segment.memory_size;
  });
}

}  // namespace

std::string_view to_string(ModuleState state) {
  switch (state) {
    case ModuleState::found:
      return "found";
    case ModuleState::missing:
      return "missing";
    case ModuleState::mismatch:
      return "MISMATCH";
    case ModuleState::in_memory:
      return "in memory";
  }
  return "unknown";
}

const Module* ProcessImage::module_at(Address runtime) const {
  return find_by_range(modules, runtime);
}

const Mapping* ProcessImage::mapping_at(Address runtime) const {
  return find_by_range(mappings, runtime);
}

std::optional<Address> ProcessImage::code_pointer_at(Address slot) const {
  const auto word = memory->read_unsigned(slot, arch->abi.pointer_size, arch->abi.endian);
  return word ? std::optional(arch->code_address(*word)) : std::nullopt;
}

bool ProcessImage::is_code(Address runtime) const {
  if (!mappings.empty()) {
    const Mapping* mapping = mapping_at(runtime);
    return mapping != nullptr && mapping->executable;
  }
  const Module* module = module_at(runtime);
  if (module != nullptr && module->file != nullptr) {
    return in_executable_segment(*module, runtime);
  }
  return memory != nullptr && !memory->run_at(runtime).empty();
}

bool ProcessImage::may_be_jit_code(Address runtime) const {
  const Mapping* mapping = mapping_at(runtime);
  if (mapping == nullptr) {
    return mappings.empty();
  }
  const Module* module = module_at(runtime);
  return mapping->executable && (module == nullptr || module->file == nullptr);
}

}  // namespace whocall
