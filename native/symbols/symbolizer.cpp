#include "symbols/symbolizer.h"

#include <utility>

namespace whocall {

Symbolizer::Symbolizer(const ProcessImage& process)
    : process_(process), modules_(process.modules.size()) {}

FileSymbols* Symbolizer::symbols_of(const Module& module) {
  if (module.file == nullptr) {
    return nullptr;
  }
  auto& symbols = modules_[static_cast<std::size_t>(&module - process_.modules.data())];
  if (symbols == nullptr) {
    symbols = std::make_unique<FileSymbols>(module.file, process_.search);
  }
  return symbols.get();
}

const Place& Symbolizer::describe(Address runtime, NamingOptions options) {
  auto& answers = answers_[(options.demangle ? 1U : 0U) + (options.lines ? 2U : 0U) +
                           (options.refused ? 4U : 0U)];
  auto found = answers.find(runtime);
  if (found == answers.end()) {
    found = answers.emplace(runtime, look_up(runtime, options)).first;
  }
  return found->second;
}

Place Symbolizer::look_up(Address runtime, NamingOptions options) {
  Place place;
  place.module = process_.module_at(runtime);
  if (place.module == nullptr) {
    return place;
  }
  place.link_address = place.module->link_address(runtime);
  if (FileSymbols* symbols = symbols_of(*place.module)) {
    static_cast<FilePlace&>(place) = symbols->describe(place.link_address, options);
  }
  return place;
}

}  // namespace whocall
