#include "unwind/cfi_tables.h"

#include <algorithm>

#include "unwind/cfi_program.h"

namespace whocall {

// .eh_frame and .debug_frame of one module, and the FDEs compiled so far.
struct CfiTables::ModuleTables {
  struct Section {
    Section(CallFrameInfo::Format format, LoadedPart part, std::optional<LoadedPart> header,
            unsigned pointer_size)
        : info(format, part, header, pointer_size) {}
    CallFrameInfo info;
    std::unordered_map<std::uint64_t, std::vector<UnwindRow>> compiled;  // by FDE offset
  };
  std::vector<std::unique_ptr<Section>> sections;

  explicit ModuleTables(const ElfFile& file) {
    using Format = CallFrameInfo::Format;
    if (const auto part = file.eh_frame()) {
      sections.push_back(std::make_unique<Section>(Format::eh_frame, *part, file.eh_frame_hdr(),
                                                   file.pointer_size()));
    }
    if (const auto part = file.debug_frame()) {
      sections.push_back(
          std::make_unique<Section>(Format::debug_frame, *part, std::nullopt, file.pointer_size()));
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
  Slot& slot = slots_[(runtime ^ (runtime >> 10U)) % kSlots];
  if (slot.runtime != runtime) {
    slot = {runtime, look_up(runtime).value_or(CfiRow{})};
  }
  return slot.found.row != nullptr ? std::optional(slot.found) : std::nullopt;
}

std::optional<CfiRow> CfiTables::look_up(Address runtime) {
  const Module* module = process_.module_at(runtime);
  ModuleTables* tables = module != nullptr ? tables_for(*module) : nullptr;
  if (tables == nullptr) {
    return std::nullopt;
  }
  const Address link = module->link_address(runtime);
  for (const auto& section : tables->sections) {
    const auto fde = section->info.find(link);
    if (!fde) {
      continue;
    }
    auto [compiled, fresh] = section->compiled.try_emplace(fde->offset);
    if (fresh) {
      compiled->second = compile(*fde);
    }
    const auto& rows = compiled->second;
    const auto after = std::ranges::upper_bound(
        rows, link, {}, [](const UnwindRow& row) { return row.range.begin; });
    if (after != rows.begin() && std::prev(after)->range.contains(link)) {
      return CfiRow{&*std::prev(after), module, section->info.format()};
    }
  }
  return std::nullopt;
}

std::optional<AddressRange> CfiTables::function_at(Address runtime) {
  const Module* module = process_.module_at(runtime);
  ModuleTables* tables = module != nullptr ? tables_for(*module) : nullptr;
  if (tables == nullptr) {
    return std::nullopt;
  }
  for (const auto& section : tables->sections) {
    if (const auto fde = section->info.find(module->link_address(runtime))) {
      return AddressRange{module->runtime_address(fde->range.begin),
                          module->runtime_address(fde->range.end)};
    }
  }
  return std::nullopt;
}

}  // namespace whocall
