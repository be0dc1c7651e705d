#include "unwind/cfi_tables.h"

#include <algorithm>
#include <utility>

#include "unwind/cfi_program.h"

namespace whocall {

// .eh_frame and .debug_frame of one module, and the FDEs compiled so far.
struct CfiTables::ModuleTables {
  struct Section {
    std::unique_ptr<CallFrameInfo> info;
    std::unordered_map<std::uint64_t, std::vector<UnwindRow>> compiled{};  // by FDE offset
  };
  std::vector<Section> sections;

  explicit ModuleTables(const ElfFile& file) {
    for (auto make : {CallFrameInfo::of_eh_frame, CallFrameInfo::of_debug_frame}) {
      if (auto info = make(file)) {
        sections.push_back({std::move(info)});
      }
    }
  }
};

CfiTables::CfiTables(const ProcessImage& process)
    : process_(process), modules_(process.modules.size()) {}

CfiTables::~CfiTables() = default;

CfiTables::ModuleTables* CfiTables::tables_for(const Module& module) {
  if (module.file == nullptr) {
    return nullptr;
  }
  auto& tables = modules_[static_cast<std::size_t>(&module - process_.modules.data())];
  if (tables == nullptr) {
    tables = std::make_unique<ModuleTables>(*module.file);
  }
  return tables.get();
}

std::optional<CfiRow> CfiTables::row_at(Address runtime) {
  const CfiRow& found = cached(runtime);
  return found.row != nullptr ? std::optional(found) : std::nullopt;
}

std::optional<AddressRange> CfiTables::function_at(Address runtime) {
  const CfiRow& found = cached(runtime);
  return !found.function.empty() ? std::optional(found.function) : std::nullopt;
}

const CfiRow& CfiTables::cached(Address runtime) {
  Slot& slot = slots_[(runtime ^ (runtime >> 10U)) % kSlots];
  if (slot.runtime != runtime) {
    slot = {runtime, look_up(runtime)};
  }
  return slot.found;
}

CfiRow CfiTables::look_up(Address runtime) {
  const Module* module = process_.module_at(runtime);
  ModuleTables* tables = module != nullptr ? tables_for(*module) : nullptr;
  if (tables == nullptr) {
    return {};
  }
  const Address link = module->link_address(runtime);
  for (auto& section : tables->sections) {
    const auto fde = section.info->find(link);
    if (!fde) {
      continue;
    }
    auto [compiled, fresh] = section.compiled.try_emplace(fde->offset);
    if (fresh) {
      compiled->second = compile(*fde);
    }
    CfiRow found{.module = module,
                 .function = {module->runtime_address(fde->range.begin),
                              module->runtime_address(fde->range.end)},
                 .format = section.info->format()};
    const auto& rows = compiled->second;
    const auto after = std::ranges::upper_bound(
        rows, link, {}, [](const UnwindRow& row) { return row.range.begin; });
    if (after != rows.begin() && std::prev(after)->range.contains(link)) {
      found.row = &*std::prev(after);
    }
    return found;
  }
  return {};
}

}  // namespace whocall
