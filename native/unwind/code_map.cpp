#include "unwind/code_map.h"

namespace whocall {

CodeMap::CodeMap(const ProcessImage& process, CfiTables& cfi)
    : process_(process), cfi_(cfi), starts_(process.modules.size()) {}

std::optional<AddressRange> CodeMap::function_at(Address runtime) {
  if (const auto range = cfi_.function_at(runtime)) {
    return range;
  }
  const Module* module = process_.module_at(runtime);
  if (module == nullptr || module->file == nullptr) {
    return std::nullopt;
  }
  const auto range = starts_of(*module).function_at(module->link_address(runtime));
  return range ? std::optional(AddressRange{module->runtime_address(range->begin),
                                            module->runtime_address(range->end)})
               : std::nullopt;
}

const FunctionStarts& CodeMap::starts_of(const Module& module) {
  auto& starts = starts_[static_cast<std::size_t>(&module - process_.modules.data())];
  if (starts == nullptr) {
    starts = std::make_unique<FunctionStarts>(*module.file, *process_.arch,
                                              *SymbolTable::from_elf(module.file));
  }
  return *starts;
}

}  // namespace whocall
