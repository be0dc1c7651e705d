#include "symbols/symbolizer.h"

#include <utility>

#include "symbols/table/demangler.h"

namespace whocall {

Symbolizer::Symbolizer(const ProcessImage& process)
    : process_(process),
      modules_(process.modules.size()),
      jit_names_(process),
      lately_(std::size_t{1} << kLatelyLog) {}

const AssignedSymbolFiles& Symbolizer::assigned_lists() {
  if (!lists_) {
    lists_ = assign_symbol_files(process_);
  }
  return *lists_;
}

std::vector<std::string> Symbolizer::warnings() {
  std::vector<std::string> sentences = assigned_lists().strays;
  for (const Module& module : process_.modules) {
    const auto index = static_cast<std::size_t>(&module - process_.modules.data());
    if (module.file != nullptr && !assigned_lists().by_module[index].empty()) {
      if (const std::string& remark = symbols_of(module)->remark(); !remark.empty()) {
        sentences.push_back(remark);
      }
    }
  }
  const auto& of_jit = jit_names_.remarks();
  sentences.insert(sentences.end(), of_jit.begin(), of_jit.end());
  return sentences;
}

FileSymbols* Symbolizer::symbols_of(const Module& module) {
  if (module.file == nullptr) {
    return nullptr;
  }
  const auto index = static_cast<std::size_t>(&module - process_.modules.data());
  auto& names = modules_[index];
  if (names == nullptr) {
    names = std::make_unique<ModuleNames>();
    names->search = process_.search;
    names->search.symbol_files = assigned_lists().by_module[index];
    names->symbols = std::make_unique<FileSymbols>(module.file, names->search);
  }
  return names->symbols.get();
}

const Place& Symbolizer::describe(Address runtime, NamingOptions options) {
  constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  const unsigned which =
      (options.demangle ? 1U : 0U) + (options.lines ? 2U : 0U) + (options.refused ? 4U : 0U);
  Answer& lately = lately_[runtime * kMixer >> (64U - kLatelyLog)];
  if (lately.place != nullptr && lately.runtime == runtime && lately.options == which) {
    return *lately.place;
  }
  auto& answers = answers_[which];
  auto found = answers.find(runtime);
  if (found == answers.end()) {
    found = answers.emplace(runtime, look_up(runtime, options)).first;
  }
  lately = {runtime, which, &found->second};
  return found->second;
}

Place Symbolizer::look_up(Address runtime, NamingOptions options) {
  Place place;
  place.module = process_.module_at(runtime);
  if (name_jit_code(runtime, options, place) || place.module == nullptr) {
    return place;
  }
  place.link_address = place.module->link_address(runtime);
  if (FileSymbols* symbols = symbols_of(*place.module)) {
    static_cast<FilePlace&>(place) = symbols->describe(place.link_address, options);
  }
  return place;
}

// Such code has no module: its link addresses are the runtime addresses.
bool Symbolizer::name_jit_code(Address runtime, const NamingOptions& options, Place& place) {
  const JitFunction* function = jit_names_.at(runtime);
  if (function == nullptr) {
    return false;
  }
  place.module = nullptr;
  place.link_address = runtime;
  place.function =
      FunctionMatch{.name = options.demangle ? demangle(function->name) : function->name,
                    .raw_name = function->name,
                    .source = function->source,
                    .start = function->range.begin,
                    .size = function->range.size()};
  if (options.lines) {
    place.lines = jit_names_.lines_at(*function, runtime);
  }
  return true;
}

}  // namespace whocall
