#include "unwind/walk/outermost.h"

#include <algorithm>
#include <array>

namespace whocall {
namespace {

// The next function that is known may stand far behind the entry; the longest `_start` of the usual
// C libraries has 46 bytes.
constexpr std::uint64_t kLongestStart = 64;

// The program that the kernel started, or that its dynamic linker was told to run; and that linker.
bool starts_a_stack(const Module& module, const ProcessImage& process) {
  if (module.is_executable || (module.file != nullptr && !module.file->interpreter().empty())) {
    return true;
  }
  return std::ranges::any_of(process.modules, [&](const Module& other) {
    return other.is_executable && other.file != nullptr && other.file->interpreter() == module.path;
  });
}

// The entry point of a module: by its file, or by the header that the process has of it.
std::optional<Address> entry_of(const Module& module, const ProcessImage& process) {
  if (module.file != nullptr) {
    return module.runtime_address(module.file->entry());
  }
  constexpr std::array<std::byte, 4> kMagic = {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'},
                                               std::byte{'F'}};
  constexpr Address kType = 16;  // offset of e_type, and of e_entry in either class
  constexpr Address kEntry = 24;
  constexpr std::uint64_t kPositionIndependent = 3;  // ET_DYN
  std::array<std::byte, 4> magic{};
  const Architecture& arch = *process.arch;
  const Address header = module.range.begin;
  const auto type = process.memory->read_unsigned(header + kType, 2, arch.endian);
  const auto entry = process.memory->read_unsigned(header + kEntry, arch.pointer_size, arch.endian);
  if (process.memory->read(header, magic) != magic.size() || magic != kMagic || !type || !entry) {
    return std::nullopt;
  }
  return *type == kPositionIndependent ? header + *entry : *entry;
}

}  // namespace

std::optional<std::string> outermost_function(const Activation& activation,
                                              const ProcessImage& process, CodeMap& code) {
  const Module* module = process.module_at(activation.lookup_pc());
  if (module == nullptr || !starts_a_stack(*module, process) ||
      (module->file != nullptr && module->file->entry() == 0)) {
    return std::nullopt;
  }
  const auto entry = entry_of(*module, process);
  if (!entry) {
    return std::nullopt;
  }
  AddressRange function{*entry, *entry + kLongestStart};
  if (const auto known = code.function_at(*entry)) {
    function.end = std::min(function.end, known->end);
  }
  if (!function.contains(activation.lookup_pc())) {
    return std::nullopt;
  }
  return "the entry point of " + module->path;
}

}  // namespace whocall
