#include "unwind/code/code_map.h"

#include <algorithm>
#include <unordered_map>

#include "object/elf_imports.h"
#include "symbols/table/code_areas.h"
#include "unwind/code/confirmed_starts.h"

namespace whocall {

struct CodeMap::ModuleCode {
  const Module& module;
  const FunctionStarts& starts;
  ConfirmedStarts confirmed;
  std::unordered_map<Address, std::string_view> imports;  // by link address of the word
  std::optional<std::vector<DirectJump>> jumps{};         // sorted by target; link addresses

  ModuleCode(const Module& owner, const Architecture& arch, const FunctionStarts& known)
      : module(owner),
        starts(known),
        confirmed(*owner.file, arch, known),
        imports(imported_functions(*owner.file)) {}

  // One pass over all code of the module, the first time.
  const std::vector<DirectJump>& jumps_between_functions(const Architecture& arch) {
    if (jumps) {
      return *jumps;
    }
    jumps.emplace();
    for (const AddressRange& area : code_areas(*module.file)) {
      const ByteView bytes = module.file->at(area.begin);
      if (const auto inside = bytes.slice(0, std::min<std::uint64_t>(area.size(), bytes.size()))) {
        arch.append_direct_jumps(*inside, area.begin, module.file->load_range(), *jumps);
      }
    }
    std::erase_if(*jumps, [&](const DirectJump& jump) {
      const auto function = starts.function_at(jump.source);
      return !function || function->contains(jump.target);
    });
    std::ranges::sort(*jumps, {}, &DirectJump::target);
    return *jumps;
  }
};

CodeMap::CodeMap(const ProcessImage& process, CfiTables& cfi, Symbolizer& symbolizer)
    : process_(process),
      cfi_(cfi),
      symbolizer_(symbolizer),
      loose_(process),
      modules_(process.modules.size()) {}

CodeMap::~CodeMap() = default;

CodeMap::ModuleCode* CodeMap::code_of(Address runtime) {
  const Module* module = process_.module_at(runtime);
  if (module == nullptr || module->file == nullptr) {
    return nullptr;
  }
  auto& code = modules_[static_cast<std::size_t>(module - process_.modules.data())];
  if (code == nullptr) {
    const FunctionStarts* starts = symbolizer_.symbols_of(*module)->starts();
    if (starts == nullptr) {
      return nullptr;
    }
    code = std::make_unique<ModuleCode>(*module, *process_.arch, *starts);
  }
  return code.get();
}

std::optional<AddressRange> CodeMap::function_at(Address runtime) {
  if (const auto range = cfi_.function_at(runtime)) {
    return range;
  }
  ModuleCode* code = code_of(runtime);
  if (code == nullptr) {
    const auto known = symbolizer_.jit_names().registered_function_at(runtime);
    return known ? known : loose_.function_at(runtime);
  }
  const auto range = code->confirmed.function_at(code->module.link_address(runtime));
  return range ? std::optional(AddressRange{code->module.runtime_address(range->begin),
                                            code->module.runtime_address(range->end)})
               : std::nullopt;
}

bool CodeMap::is_called(Address runtime) {
  ModuleCode* code = code_of(runtime);
  return code != nullptr ? code->starts.is_called(code->module.link_address(runtime))
                         : loose_.is_called(runtime);
}

std::vector<AddressRange> CodeMap::functions_jumping_into(const AddressRange& range) {
  constexpr std::size_t kEnough = 8;
  std::vector<AddressRange> functions;
  ModuleCode* code = code_of(range.begin);
  if (code == nullptr || process_.arch->append_direct_jumps == nullptr) {
    return functions;
  }
  const Module& module = code->module;
  const auto& jumps = code->jumps_between_functions(*process_.arch);
  const Address end = module.link_address(range.end);
  auto jump =
      std::ranges::lower_bound(jumps, module.link_address(range.begin), {}, &DirectJump::target);
  for (; jump != jumps.end() && jump->target < end && functions.size() < kEnough; ++jump) {
    const auto function = function_at(module.runtime_address(jump->source));
    if (function && *function != range &&
        std::ranges::find(functions, *function) == functions.end()) {
      functions.push_back(*function);
    }
  }
  return functions;
}

std::optional<CodeMap::LinkageTable> CodeMap::linkage_table_at(Address runtime) {
  constexpr std::uint64_t kSmallestSlot = 16;  // bytes; ld writes 4 for i386
  const ModuleCode* code = code_of(runtime);
  if (code == nullptr) {
    return std::nullopt;
  }
  const Module& module = code->module;
  const ElfSection* plt = module.file->section(".plt");
  if (plt == nullptr || plt->entry_size == 0 ||
      !plt->range().contains(module.link_address(runtime))) {
    return std::nullopt;
  }
  return LinkageTable{
      {module.runtime_address(plt->range().begin), module.runtime_address(plt->range().end)},
      std::max(plt->entry_size, kSmallestSlot)};
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
