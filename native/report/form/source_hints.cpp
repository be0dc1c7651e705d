#include "report/form/source_hints.h"

#include <algorithm>
#include <string>

#include "symbols/inferred/rust_paths.h"
#include "symbols/table/demangler.h"

namespace whocall {

std::vector<SourceHint> source_hints(const FilePlace& place,
                                     const std::shared_ptr<const ElfFile>& file) {
  if (file == nullptr || !place.lines.empty() || !place.function || place.function->size == 0) {
    return {};
  }
  const Address start = place.function->start;
  return source_places_of(file)->of({start, start + place.function->size}, place.link_address);
}

bool stands_at_its_place(const NamedFrame& frame) {
  return !frame.frame->evidence.has(Evidence::call_elsewhere);
}

std::vector<SourceHint> source_hints(const NamedFrame& frame) {
  const Module* const module = frame.place->module;
  if (module == nullptr || !stands_at_its_place(frame)) {
    return {};
  }
  return source_hints(*frame.place, module->file);
}

NearPlace near_place_of(const Place& place) {
  if (place.module == nullptr) {
    return {};
  }
  const std::vector<SourceHint> hints = source_hints(place, place.module->file);
  const auto near = std::ranges::find_if(hints, &SourceHint::near);
  if (near == hints.end()) {
    return {};
  }
  return {std::string(short_rust_path(near->file)), ":" + std::to_string(near->line) + "?"};
}

FunctionTraits traits_of(const FilePlace& place, const std::shared_ptr<const ElfFile>& file) {
  if (file == nullptr || !place.function || !place.function->raw_name.empty() ||
      place.function->size == 0) {
    return {};
  }
  const Address start = place.function->start;
  return source_places_of(file)->traits_of({start, start + place.function->size});
}

std::string traits_in_words(const NamedFrame& frame) {
  const Module* const module = frame.place->module;
  if (module == nullptr || module->file == nullptr) {
    return {};
  }
  const FunctionTraits traits = traits_of(*frame.place, module->file);
  std::string text;
  if (!traits.only_caller.empty()) {
    text += " Its only caller is " + demangle(traits.only_caller) + ".";
  }
  if (!traits.only_text.empty()) {
    text += " It alone uses the text \"" + traits.only_text + "\".";
  }
  for (std::size_t i = 0; i < traits.imports.size(); ++i) {
    text += (i == 0 ? " It calls " : ", ") + demangle(traits.imports[i]);
  }
  return traits.imports.empty() ? text : text + ".";
}

}  // namespace whocall
