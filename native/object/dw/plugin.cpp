// whocall_dw.so: what of whocall reads DWARF's lines and functions, by libdw.
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "object/debug_image.h"
#include "object/dw/unit.h"

namespace whocall {
namespace {

class Lines final : public LineTable {
 public:
  Lines(DebugInfoFile file, DebugInfoFile supplementary, GuardMapping guard)
      : supplementary_(std::move(supplementary), guard), file_(std::move(file), guard) {
    dwarf_setalt(file_.get(), supplementary_.get());  // or libdw would look for one itself
    GElf_Ehdr header = {};
    is_object_ =
        gelf_getehdr(dwarf_getelf(file_.get()), &header) != nullptr && header.e_type == ET_REL;
  }

  std::vector<SourceLine> lines_at(Address link) const override {
    const std::scoped_lock lock(mutex_);
    if (!ranges_) {
      list_units();
    }
    const std::uint32_t unit = ranges_->find(link);
    return unit != kNoRange ? units_[unit].lines_at(link) : std::vector<SourceLine>();
  }

 private:
  // Not by .debug_aranges: clang does not write it, and what it leaves out would be lost.
  void list_units() const {
    units_.clear();
    DieRanges ranges(is_object_);
    Dwarf_CU* next = nullptr;
    Dwarf_Die die = {};
    while (dwarf_get_units(file_.get(), next, &next, nullptr, nullptr, &die, nullptr) == 0) {
      check_interrupt_at(units_.size(), kInterval);
      if (die.addr != nullptr) {
        ranges.add(die, static_cast<std::uint32_t>(units_.size()));
        units_.emplace_back(next, is_object_);
      }
    }
    ranges.close();
    ranges_ = std::move(ranges);
  }

  static constexpr std::size_t kInterval = 64;  // units

  OpenDwarf supplementary_;  // outlives file_, which refers to it
  OpenDwarf file_;
  bool is_object_ = false;
  mutable std::mutex mutex_;  // guards libdw and what follows
  mutable std::vector<Unit> units_;
  mutable std::optional<DieRanges> ranges_;  // owners are indices of units_; a miss until asked
};

class Library final : public DwarfLibrary {
 public:
  std::unique_ptr<LineTable> open(DebugInfoFile file, std::unique_ptr<DebugInfoFile> supplementary,
                                  InterruptCheck check, GuardMapping guard) override {
    set_interrupt_check(check);  // the plugin has its own
    if (supplementary == nullptr) {
      supplementary = std::make_unique<DebugInfoFile>(DebugInfoFile{"", empty_debug_image()});
    }
    return std::make_unique<Lines>(std::move(file), std::move(*supplementary), guard);
  }

  std::string version() const override { return dwfl_version(nullptr); }
};

}  // namespace
}  // namespace whocall

extern "C" __attribute__((visibility("default"))) void* whocall_dw_library() {
  static whocall::Library library;
  return static_cast<whocall::DwarfLibrary*>(&library);
}
