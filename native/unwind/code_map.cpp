#include "unwind/code_map.h"

#include <algorithm>
#include <unordered_map>

#include "object/elf_imports.h"
#include "symbols/code_areas.h"

namespace whocall {

struct CodeMap::ModuleCode {
  const Module& module;
  const FunctionStarts& starts;
  std::unordered_map<Address, std::string_view> imports;  // by link address of the word

  ModuleCode(const Module& owner, const FunctionStarts& known)
      : module(owner), starts(known), imports(imported_functions(*owner.file)) {}
};

CodeMap::CodeMap(const ProcessImage& process, CfiTables& cfi, Symbolizer& symbolizer)
    : process_(process), cfi_(cfi), symbolizer_(symbolizer), modules_(process.modules.size()) {}

CodeMap::~CodeMap() = default;

CodeMap::ModuleCode* CodeMap::code_of(Address runtime) {
  const Module* module = process_.module_at(runtime);
  if (module == nullptr || module->file == nullptr) {
    return nullptr;
  }
  auto& code = modules_[static_cast<std::size_t>(module - process_.modules.data())];
  if (code == nullptr) {
    code = std::make_unique<ModuleCode>(*module, *symbolizer_.starts_of(*module));
  }
  return code.get();
}

std::optional<AddressRange> CodeMap::function_at(Address runtime) {
  if (const auto range = cfi_.function_at(runtime)) {
    return range;
  }
  ModuleCode* code = code_of(runtime);
  if (code == nullptr) {
    return std::nullopt;
  }
  const auto range = code->starts.function_at(code->module.link_address(runtime));
  return range ? std::optional(AddressRange{code->module.runtime_address(range->begin),
                                            code->module.runtime_address(range->end)})
               : std::nullopt;
}

bool CodeMap::is_called(Address runtime) {
  ModuleCode* code = code_of(runtime);
  return code != nullptr && code->starts.is_called(code->module.link_address(runtime));
}

std::vector<AddressRange> CodeMap::functions_jumping_into(const AddressRange& range) {
  constexpr std::size_t kEnough = 8;
  std::vector<AddressRange> functions;
  ModuleCode* code = code_of(range.begin);
  if (code == nullptr || process_.arch->append_jump_sources == nullptr) {
    return functions;
  }
  const Module& module = code->module;
  const AddressRange wanted{module.link_address(range.begin), module.link_address(range.end)};
  std::vector<Address> sources;
  for (const AddressRange& area : code_areas(*module.file)) {
    const ByteView bytes = module.file->at(area.begin);
    if (const auto inside = bytes.slice(0, std::min<std::uint64_t>(area.size(), bytes.size()))) {
      process_.arch->append_jump_sources(*inside, area.begin, wanted, sources);
    }
  }
  for (const Address source : sources) {
    const auto function = function_at(module.runtime_address(source));
    if (function && *function != range && functions.size() < kEnough &&
        std::ranges::find(functions, *function) == functions.end()) {
      functions.push_back(*function);
    }
  }
  return functions;
}

std::string_view CodeMap::import_at(Address code, Address slot) {
  ModuleCode* owner = code_of(code);
  if (owner == nullptr) {
    return {};
  }
  const auto found = owner->imports.find(owner->module.link_address(slot));
  return found == owner->imports.end() ? std::string_view() : found->second;
}

}  // namespace whocall
