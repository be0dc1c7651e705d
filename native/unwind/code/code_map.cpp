#include "unwind/code/code_map.h"

#include <algorithm>

#include "unwind/code/file_code.h"

namespace whocall {

struct CodeMap::ModuleCode {
  const Module& module;
  FileCode& file;

  ModuleCode(const Module& owner, FileCode& code) : module(owner), file(code) {}
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
    SymbolSources& sources = symbolizer_.symbols_of(*module)->sources();
    const FunctionStarts* starts = sources.starts();
    if (starts == nullptr) {
      return nullptr;
    }
    code = std::make_unique<ModuleCode>(
        *module, file_code_of(*module->file, *process_.arch, *starts, sources));
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
  const auto range = code->file.function_at(code->module.link_address(runtime));
  return range ? std::optional(AddressRange{code->module.runtime_address(range->begin),
                                            code->module.runtime_address(range->end)})
               : std::nullopt;
}

Address CodeMap::end_of_delimited(const AddressRange& function) {
  if (has_exact_bounds(function.begin)) {
    return function.end;
  }
  ModuleCode* code = code_of(function.begin);
  if (code == nullptr) {
    return function.begin;
  }
  const auto table = symbolizer_.symbols_of(code->module)->table();
  const Address link = code->module.link_address(function.begin);
  const std::uint32_t index = table->find(link);
  return index != SymbolTable::kNone && table->symbols().exact_end(index)
             ? function.begin + (table->symbols().range(index).end - link)
             : function.begin;
}

bool CodeMap::is_called(Address runtime) {
  ModuleCode* code = code_of(runtime);
  return code != nullptr ? code->file.is_called(code->module.link_address(runtime))
                         : loose_.is_called(runtime);
}

bool CodeMap::is_known_start(Address runtime) {
  const JitFunction* told = symbolizer_.jit_names().at(runtime);
  return (told != nullptr && told->range.begin == runtime) || is_called(runtime);
}

std::vector<AddressRange> CodeMap::functions_jumping_into(const AddressRange& range) {
  // Folklore. Situation: the unlikely blocks of all functions of a file stand in one row, and
  // without tables nothing tells where one's end. Example: gcc -O2, `call abort` twenty-seven
  // times, each entered by one function. Remedy: enough of them are followed that none is missing,
  // but in huge files.
  constexpr std::size_t kEnough = 256;
  std::vector<AddressRange> functions;
  ModuleCode* code = code_of(range.begin);
  if (code == nullptr || process_.arch->code.append_direct_jumps == nullptr) {
    return functions;
  }
  const Module& module = code->module;
  const auto& jumps = code->file.jumps_between_functions();
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
  const ModuleCode* code = code_of(runtime);
  if (code == nullptr) {
    return std::nullopt;
  }
  const Module& module = code->module;
  const ElfSection* plt = module.file->section(".plt");
  if (plt == nullptr || !plt->range().contains(module.link_address(runtime))) {
    return std::nullopt;
  }
  return LinkageTable{
      {module.runtime_address(plt->range().begin), module.runtime_address(plt->range().end)},
      // lld does not tell the size of its slots, which is the smallest.
      std::max<std::uint64_t>(plt->entry_size, process_.arch->linkage.smallest_slot)};
}

std::string_view CodeMap::import_at(Address code, Address slot) {
  ModuleCode* owner = code_of(code);
  if (owner == nullptr) {
    return {};
  }
  return owner->file.import_at(owner->module.link_address(slot));
}

}  // namespace whocall
