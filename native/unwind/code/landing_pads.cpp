#include "unwind/code/landing_pads.h"

#include <algorithm>
#include <utility>

namespace whocall {
namespace {

AddressRange in_process(const Module& module, const AddressRange& link) {
  return {module.runtime_address(link.begin), module.runtime_address(link.end)};
}

}  // namespace

struct LandingPads::ModulePads {
  const Module& module;
  const CallFrameInfo* info;  // null: the module has no such tables
  const Exidx* index;         // as above
  // Link addresses of pads and the functions that land there, sorted; made when first needed.
  std::vector<std::pair<Address, AddressRange>> by_pad{};
  bool sorted = false;

  explicit ModulePads(const Module& owner)
      : module(owner), info(eh_frame_of(*owner.file)), index(exception_index_of(*owner.file)) {}

  // Link addresses.
  [[nodiscard]] std::vector<LandingPad> of_function(Address start) const {
    if (const auto fde = info != nullptr ? info->find(start) : std::nullopt) {
      return landing_pads_of(*module.file, *fde);
    }
    const auto entry = index != nullptr ? index->find(start) : std::nullopt;
    return entry ? landing_pads_of(*module.file, *entry) : std::vector<LandingPad>();
  }

  void sort() {
    if (std::exchange(sorted, true)) {
      return;
    }
    std::size_t left = kMostTableCalls;
    const auto add = [&](const auto& entry) {
      for (const LandingPad& pad : landing_pads_of(*module.file, entry, left)) {
        by_pad.emplace_back(pad.address, entry.range);
      }
    };
    if (info != nullptr) {
      info->for_each(add);
    }
    for (std::size_t i = 0; index != nullptr && i < index->size(); ++i) {
      add(index->at(i));
    }
    std::ranges::sort(by_pad, {},
                      [](const auto& entry) { return std::pair(entry.first, entry.second.begin); });
  }
};

LandingPads::LandingPads(const ProcessImage& process)
    : process_(process), modules_(process.modules.size()) {}

LandingPads::~LandingPads() = default;

LandingPads::ModulePads* LandingPads::pads_of(Address runtime) {
  const Module* module = process_.module_at(runtime);
  if (module == nullptr || module->file == nullptr) {
    return nullptr;
  }
  auto& pads = modules_[static_cast<std::size_t>(module - process_.modules.data())];
  if (pads == nullptr) {
    pads = std::make_unique<ModulePads>(*module);
  }
  return pads.get();
}

std::vector<LandingPad> LandingPads::of_function(Address start) {
  const ModulePads* pads = pads_of(start);
  if (pads == nullptr) {
    return {};
  }
  const Module& module = pads->module;
  std::vector<LandingPad> found = pads->of_function(module.link_address(start));
  for (LandingPad& pad : found) {
    pad = {in_process(module, pad.calls), module.runtime_address(pad.address)};
  }
  return found;
}

std::vector<AddressRange> LandingPads::functions_landing_in(const AddressRange& range) {
  std::vector<AddressRange> functions;
  ModulePads* pads = pads_of(range.begin);
  if (pads == nullptr) {
    return functions;
  }
  pads->sort();
  const Module& module = pads->module;
  const Address end = module.link_address(range.end);
  auto entry = std::ranges::lower_bound(pads->by_pad, module.link_address(range.begin), {},
                                        [](const auto& one) { return one.first; });
  for (; entry != pads->by_pad.end() && entry->first < end; ++entry) {
    const AddressRange function = in_process(module, entry->second);
    if (std::ranges::find(functions, function) == functions.end()) {
      functions.push_back(function);
    }
  }
  return functions;
}

}  // namespace whocall
