#include "symbols/flirt/flirt_names.h"

#include <algorithm>

namespace whocall {
namespace {

// Folklore. Situation: of a part that a compiler made of a function little is its own. Example: all
// that is in _IO_seekoff.cold is a call of abort. Remedy: such a name is left to what refers to the
// part.
bool is_part(std::string_view name) { return name.find(".cold") != std::string_view::npos; }

}  // namespace

FlirtNames::FlirtNames(const FlirtProgram& program, const FlirtSet& set)
    : program_(program), set_(set) {
  for (const FlirtName& each : set_.names) {
    if (!each.is_local) {
      defined_.insert(set_.text(each.text));
    }
  }
}

void FlirtNames::accept(const FlirtCandidate& candidate) {
  const FlirtModule& module = set_.modules[candidate.module];
  const auto names = set_.names_of(module);
  for (const FlirtName& each : names) {
    const auto next = std::ranges::upper_bound(names, each.offset, {}, &FlirtName::offset);
    const std::uint32_t end = next == names.end() ? module.size : next->offset;
    const std::string_view name = set_.text(each.text);
    if (each.is_told() && each.offset < end && !is_part(name)) {
      const Address start = candidate.address + each.offset;
      const AddressRange range{start, program_.end_of(start, candidate.address + end)};
      accepted_.try_emplace(start, Function{range}).first->second.names.push_back(name);
    }
  }
  for (const FlirtBranch& branch : candidate.branches) {
    said_.try_emplace(branch.target, set_.text(branch.name));
  }
}

// Folklore. Situation: a function has several names, of which the file tells some. Example:
// __libc_malloc is called, and the module has malloc alone. Remedy: only a name that a module has
// is known to be another function's.
FlirtNames::Known FlirtNames::among(const std::vector<std::string_view>& names,
                                    std::string_view name) const {
  if (std::ranges::find(names, name) != names.end()) {
    return Known::same;
  }
  return !names.empty() && defined_.contains(name) ? Known::other : Known::nothing;
}

FlirtNames::Known FlirtNames::known(std::string_view name, Address address) {
  const auto taken = accepted_.find(address);
  if (taken != accepted_.end()) {
    return among(taken->second.names, name);
  }
  const auto [own, is_new] = own_.try_emplace(address);
  if (is_new) {
    own->second = program_.names_at(address);
  }
  return among(own->second, name);
}

bool FlirtNames::is_called(std::string_view name, Address address) const {
  const auto voice = said_.find(address);
  return voice != said_.end() && voice->second == name;
}

bool FlirtNames::is_imported(const FlirtBranch& branch) const {
  const std::string_view import = program_.import_at(branch.target);
  return !import.empty() && (import != set_.text(branch.name) || defined_.contains(import));
}

}  // namespace whocall
