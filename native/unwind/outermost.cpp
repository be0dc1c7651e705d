#include "unwind/outermost.h"

#include <algorithm>

namespace whocall {
namespace {

// The next function that is known may stand far behind the entry; the longest `_start` of the usual
// C libraries has 46 bytes.
constexpr std::uint64_t kLongestStart = 64;

bool starts_a_stack(const Module& module, const ProcessImage& process) {
  if (module.is_executable) {
    return true;
  }
  return std::ranges::any_of(process.modules, [&](const Module& other) {
    return other.is_executable && other.file != nullptr && other.file->interpreter() == module.path;
  });
}

}  // namespace

std::optional<std::string> outermost_function(const Activation& activation,
                                              const ProcessImage& process, CodeMap& code) {
  const Module* module = process.module_at(activation.lookup_pc());
  if (module == nullptr || module->file == nullptr || module->file->entry() == 0 ||
      !starts_a_stack(*module, process)) {
    return std::nullopt;
  }
  const Address entry = module->runtime_address(module->file->entry());
  AddressRange function = code.function_at(entry).value_or(AddressRange{entry, entry});
  function.end = std::min(function.end, entry + kLongestStart);
  if (!function.contains(activation.lookup_pc())) {
    return std::nullopt;
  }
  return "the entry point of " + module->path;
}

}  // namespace whocall
