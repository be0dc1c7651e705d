#include "symbols/symbolizer.h"

#include <utility>

#include "base/error.h"
#include "base/hex.h"
#include "symbols/demangler.h"
#include "symbols/plt_symbols.h"

namespace whocall {

struct Symbolizer::ModuleSymbols {
  std::shared_ptr<const SymbolTable> table;
  std::string remark;      // on a debug file that was refused
  std::string lines_path;  // of the file with source lines; empty when there is none
  std::shared_ptr<const SymbolTable> table_with_plt;  // made when an address lies in a PLT
  std::unique_ptr<FunctionStarts> starts;  // made when a function has neither symbol nor table
  std::shared_ptr<const InferredNames> inferred;  // made when a function has no symbol
  std::unique_ptr<BfdFile> bfd;
  bool bfd_tried = false;
};

namespace {

bool has_lines(const ElfFile& file) { return file.section(".debug_info") != nullptr; }

std::string lines_path_of(const Module& module, const Companions& companions) {
  if (has_lines(*module.file)) {
    return module.file_path;
  }
  for (const Companion& companion : companions.files) {
    if (companion.source == NameSource::debug_file && has_lines(*companion.file)) {
      return companion.file->path();
    }
  }
  return {};
}

}  // namespace

Symbolizer::Symbolizer(const ProcessImage& process)
    : process_(process), modules_(process.modules.size()) {}

Symbolizer::~Symbolizer() = default;

Symbolizer::ModuleSymbols& Symbolizer::symbols_of(const Module& module) {
  auto& symbols = modules_[static_cast<std::size_t>(&module - process_.modules.data())];
  if (symbols == nullptr) {
    symbols = std::make_unique<ModuleSymbols>();
    Companions companions = companions_of(*module.file, process_.search);
    symbols->remark = std::move(companions.remark);
    symbols->lines_path = lines_path_of(module, companions);
    symbols->table = SymbolTable::from_elf(module.file, std::move(companions));
  }
  return *symbols;
}

std::string Symbolizer::remark_on(const Module& module) {
  return module.file == nullptr ? std::string() : symbols_of(module).remark;
}

std::shared_ptr<const SymbolTable> Symbolizer::table_of(const Module& module) {
  return module.file == nullptr ? nullptr : symbols_of(module).table;
}

// PLT slots have no symbols of their own; libbfd puts them together from the relocations.
std::shared_ptr<const SymbolTable> Symbolizer::table_with_plt_of(const Module& module) {
  if (module.file == nullptr) {
    return nullptr;
  }
  ModuleSymbols& symbols = symbols_of(module);
  if (symbols.table_with_plt == nullptr) {
    symbols.table_with_plt = with_plt_names(symbols.table, *module.file);
  }
  return symbols.table_with_plt;
}

const FunctionStarts* Symbolizer::starts_of(const Module& module) {
  if (module.file == nullptr) {
    return nullptr;
  }
  ModuleSymbols& symbols = symbols_of(module);
  if (symbols.starts == nullptr) {
    symbols.starts = std::make_unique<FunctionStarts>(*module.file, *process_.arch, *symbols.table);
  }
  return symbols.starts.get();
}

std::shared_ptr<const InferredNames> Symbolizer::inferred_names_of(const Module& module) {
  if (module.file == nullptr) {
    return nullptr;
  }
  ModuleSymbols& symbols = symbols_of(module);
  if (symbols.inferred == nullptr) {
    symbols.inferred =
        std::make_shared<const InferredNames>(NameEvidence{*module.file, *process_.arch});
  }
  return symbols.inferred;
}

const Place& Symbolizer::describe(Address runtime, Options options) {
  auto& cache = cache_[(options.demangle ? 1U : 0U) + (options.lines ? 2U : 0U)];
  auto found = cache.find(runtime);
  if (found == cache.end()) {
    found = cache.emplace(runtime, look_up(runtime, options)).first;
  }
  return found->second;
}

Place Symbolizer::look_up(Address runtime, Options options) {
  Place place;
  place.module = process_.module_at(runtime);
  if (place.module == nullptr) {
    return place;
  }
  const Module& module = *place.module;
  place.link_address = module.link_address(runtime);
  if (module.file == nullptr) {
    return place;
  }
  const ElfSection* section = module.file->section_at(place.link_address);
  place.section = section != nullptr ? section->name : std::string_view();
  place.function = function_at(module, place.link_address, options);
  if (options.lines && !symbols_of(module).lines_path.empty()) {
    place.lines = lines_at(module, place.link_address, options);
  }
  return place;
}

std::optional<FunctionMatch> Symbolizer::function_at(const Module& module, Address link,
                                                     Options options) {
  ModuleSymbols& symbols = symbols_of(module);
  const SymbolTable* table = symbols.table.get();
  if (is_in_plt(*module.file, link)) {
    table = table_with_plt_of(module).get();
  }
  const std::uint32_t index = table->find(link);
  if (index == SymbolTable::kNone) {
    return unnamed_function_at(module, link);
  }
  const Symbol& symbol = table->symbols()[index];
  FunctionMatch match{
      .source = symbol.source, .start = symbol.range.begin, .size = symbol.range.size()};
  match.raw_name = symbol.name;
  match.name = symbol.name.empty() ? unnamed_function(symbol.range.begin)
               : options.demangle  ? demangle(symbol.name)
                                   : match.raw_name;
  if (symbol.name.empty()) {
    infer_name(module, match);
  }
  for (const Symbol& alias : table->aliases(index)) {
    if (alias.name != symbol.name && !alias.name.empty()) {
      match.aliases.emplace_back(alias.name);
    }
  }
  return match;
}

// A function that no symbol and no table knows, but that the code shows.
std::optional<FunctionMatch> Symbolizer::unnamed_function_at(const Module& module, Address link) {
  const FunctionStarts* starts = starts_of(module);
  const auto range = starts->function_at(link);
  if (!range || !starts->witnesses_at(range->begin).is_function()) {
    return std::nullopt;
  }
  FunctionMatch match{.name = unnamed_function(range->begin),
                      .source = NameSource::call_target,
                      .start = range->begin,
                      .size = range->size()};
  infer_name(module, match);
  return match;
}

void Symbolizer::infer_name(const Module& module, FunctionMatch& match) {
  if (const InferredName* inferred = inferred_names_of(module)->at(match.start)) {
    match.name = inferred->name;
    match.raw_name = inferred->name;
    match.source = inferred->source;
  }
}

std::vector<SourceLine> Symbolizer::lines_at(const Module& module, Address link, Options options) {
  ModuleSymbols& symbols = symbols_of(module);
  if (!std::exchange(symbols.bfd_tried, true)) {
    if (BfdLibrary* library = BfdLibrary::get()) {
      try {
        symbols.bfd = library->open(symbols.lines_path);
      } catch (const Error&) {
        // Lines are an extra: a file that libbfd does not take still has its names.
      }
    }
  }
  if (symbols.bfd == nullptr) {
    return {};
  }
  auto lines = symbols.bfd->lines_at(link);
  if (options.demangle) {
    for (SourceLine& line : lines) {
      line.function = demangle(line.function);
    }
  }
  return lines;
}

std::string unnamed_function(Address start) { return "sub_" + hex(start).substr(2); }

}  // namespace whocall
