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
  const CallFrameInfo* info;  // null: the module has no unwind tables
  // Link addresses of pads and the functions that land there, sorted; made when first needed.
  std::vector<std::pair<Address, AddressRange>> by_pad{};
  bool indexed = false;

  explicit ModulePads(const Module& owner) : module(owner), info(eh_frame_of(*owner.file)) {}

  void index() {
    if (std::exchange(indexed, true) || info == nullptr) {
      return;
    }
    info->for_each([&](const Fde& fde) {
      for (const LandingPad& pad : landing_pads_of(*module.file, fde)) {
        by_pad.emplace_back(pad.address, fde.range);
      }
    });
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
  if (pads == nullptr || pads->info == nullptr) {
    return {};
  }
  const Module& module = pads->module;
  const auto fde = pads->info->find(module.link_address(start));
  if (!fde) {
    return {};
  }
  std::vector<LandingPad> found = landing_pads_of(*module.file, *fde);
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
  pads->index();
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
