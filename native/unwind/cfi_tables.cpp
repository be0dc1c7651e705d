#include "unwind/cfi_tables.h"

#include <algorithm>
#include <utility>

#include "process/debug_files.h"
#include "unwind/cfi_program.h"

namespace whocall {

// .eh_frame and .debug_frame of one module, the latter also of its separate debug file, and the
// FDEs compiled so far.
class CfiTables::ModuleTables {
 public:
  ModuleTables(const Module& module, const FileSearch& search) : module_(module), search_(search) {
    add(module.file->eh_frame_entries());
    add(module.file->debug_frame_entries());
  }

  CfiRow at(Address link) {
    CfiRow found = in_open_sections(link);
    if (found.function.empty() && open_debug_file()) {
      found = in_open_sections(link);
    }
    return found;
  }

  bool covers(Address link) {
    const auto any_covers = [&] {
      return std::ranges::any_of(
          sections_, [&](const Section& section) { return section.info->find(link).has_value(); });
    };
    return any_covers() || (open_debug_file() && any_covers());
  }

 private:
  struct Section {
    const CallFrameInfo* info;
    std::unordered_map<std::uint64_t, std::vector<UnwindRow>> compiled{};  // by FDE offset
  };

  void add(const CallFrameInfo* info) {
    if (info != nullptr) {
      sections_.push_back({info});
    }
  }

  // Folklore. Situation: a library without .eh_frame. Example: musl's, whose distributions ship
  // .debug_frame in the debug file alone. Remedy: where no table of the file itself covers an
  // address, look there. True when there is something new to look at.
  bool open_debug_file() {
    if (debug_file_tried_) {
      return false;
    }
    debug_file_ = find_debug_file(*module_.file, search_).file;
    debug_file_tried_ = true;  // only now: an interrupted download may be tried again
    const std::size_t before = sections_.size();
    if (debug_file_ != nullptr) {
      add(debug_file_->debug_frame_entries());
    }
    return sections_.size() > before;
  }

  CfiRow in_open_sections(Address link) {
    for (Section& section : sections_) {
      if (const auto fde = section.info->find(link)) {
        return row_of(section, *fde, link);
      }
    }
    return {};
  }

  [[nodiscard]] CfiRow row_of(Section& section, const Fde& fde, Address link) const {
    const auto [compiled, fresh] = section.compiled.try_emplace(fde.offset);
    if (fresh) {
      compiled->second = compile(fde);
    }
    CfiRow found{.module = &module_,
                 .function = {module_.runtime_address(fde.range.begin),
                              module_.runtime_address(fde.range.end)},
                 .format = section.info->format()};
    const auto& rows = compiled->second;
    const auto after = std::ranges::upper_bound(
        rows, link, {}, [](const UnwindRow& row) { return row.range.begin; });
    if (after != rows.begin() && std::prev(after)->range.contains(link)) {
      found.row = &*std::prev(after);
    }
    return found;
  }

  const Module& module_;
  const FileSearch& search_;
  std::shared_ptr<const ElfFile> debug_file_;
  bool debug_file_tried_ = false;
  std::vector<Section> sections_;
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
    tables = std::make_unique<ModuleTables>(module, process_.search);
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

bool CfiTables::covers(Address runtime) {
  const Module* module = process_.module_at(runtime);
  ModuleTables* tables = module != nullptr ? tables_for(*module) : nullptr;
  return tables != nullptr && tables->covers(module->link_address(runtime));
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
  return tables != nullptr ? tables->at(module->link_address(runtime)) : CfiRow();
}

}  // namespace whocall
