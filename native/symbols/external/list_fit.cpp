#include "symbols/external/list_fit.h"

#include <elf.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "arch/elf_machine.h"
#include "base/hex.h"
#include "object/mini_debug_info.h"
#include "symbols/external/list_base.h"
#include "symbols/external/name_rows.h"
#include "symbols/table/code_areas.h"
#include "symbols/table/plt_symbols.h"

namespace whocall {
namespace {

// Fewer known starts than this tell nothing about a list.
constexpr std::size_t kFewStarts = 4;

void add_fdes(const CallFrameInfo* info, std::vector<AddressRange>& fdes) {
  if (info != nullptr) {
    info->for_each([&](const Fde& fde) {
      if (!fde.range.empty()) {
        fdes.push_back(fde.range);
      }
    });
  }
}

bool starts_before(const AddressRange& left, const AddressRange& right) {
  return left.begin < right.begin;
}

// The last range that starts at or below `address`; null when there is none.
const AddressRange* range_before(const std::vector<AddressRange>& ranges, Address address) {
  const auto next =
      std::upper_bound(ranges.begin(), ranges.end(), AddressRange{address, 0}, starts_before);
  return next == ranges.begin() ? nullptr : &*std::prev(next);
}

// "$a", "$d.3": they tell instructions from data in the symbol tables of ARM and others.
bool is_mapping_symbol(std::string_view name) {
  return name.size() >= 2 && name[0] == '$' && (name.size() == 2 || name[2] == '.');
}

// Folklore. Situation: tools name the entry point when nobody has. Example: "start" (IDA), "entry"
// (Ghidra). Remedy: there these are none.
bool is_entry_word(std::string_view name) { return name == "start" || name == "entry"; }

}  // namespace

ListJudge::ListJudge(const ElfFile& file) : file_(file), code_(code_areas(file)) {
  for (const CallFrameInfo* info : frame_tables_of(file)) {
    add_fdes(info, fdes_);
  }
  std::sort(fdes_.begin(), fdes_.end(), starts_before);
  const std::shared_ptr<const ElfFile> unowned(std::shared_ptr<const void>(), &file);
  table_ = SymbolTable::from_elf(unowned);
  const Architecture* arch = find_architecture(file.identity());
  if (arch != nullptr) {
    starts_ = std::make_unique<FunctionStarts>(file, *arch, *table_);
    for (const FunctionStart& start : starts_->all()) {
      if (start.evidence.is_function() || start.evidence.certain()) {
        known_.push_back(start.address);
      }
    }
    return;
  }
  for (const Symbol& symbol : table_->symbols()) {
    known_.push_back(symbol.range.begin);  // of FDEs too
  }
  known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
}

ListJudge::~ListJudge() = default;

// One list on its way to become the file's.
class ListJudge::Fit {
 public:
  Fit(const ListJudge& judge, ListedNames& names, ListBase base, const std::string& path)
      : judge_(judge), names_(names), base_(base), path_(path) {}

  FittedList run() {
    if (names_.relative && !base_.given) {
      base_.base = Address{0} - first_load();
    }
    FittedList result;
    std::erase_if(names_.names, [this](const ListedName& name) {
      return is_mapping_symbol(name.name) ||
             (!names_.exact_sizes && is_made_up(name.name, name.address));
    });
    result.remark = object();
    if (!result.remark.empty()) {
      return result;
    }
    NameList list;
    list.symbols = symbols();
    if (list.symbols.empty()) {
      result.remark = path_ + " names no function of " + judge_.file_.path() + ".";
      return result;
    }
    const auto owner = std::make_shared<const ListedNames>(std::move(names_));
    list.owner = owner;
    if (owner->lines != nullptr) {
      list.lines = shifted_lines(owner, base_.base);
    }
    result.list = std::move(list);
    return result;
  }

 private:
  [[nodiscard]] Address first_load() const {
    for (const ElfSegment& segment : judge_.file_.segments()) {
      if (segment.type == PT_LOAD) {
        return segment.address;
      }
    }
    return 0;
  }

  [[nodiscard]] Address link_of(const ListedName& name) const {
    return (name.address - base_.base) & ~elf_machine(judge_.file_.machine()).function_mode_bits;
  }

  // What speaks against the list, a sentence; empty when nothing does.
  [[nodiscard]] std::string object() const {
    if (std::string objection = object_to_section(); !objection.empty()) {
      return objection;
    }
    if (std::string objection = object_to_named(); !objection.empty()) {
      return objection;
    }
    return object_to_starts();
  }

  [[nodiscard]] std::string object_to_section() const {
    const ElfSection* text = judge_.file_.section(".text");
    if (!names_.text || text == nullptr) {
      return {};
    }
    if (names_.text->size() != text->size) {
      return refuse("has a .text of " + hex(names_.text->size()) + " bytes, but " +
                    judge_.file_.path() + " has one of " + hex(text->size));
    }
    const Address base = names_.text->begin - text->address;
    if (base == base_.base) {
      return {};
    }
    return base == better_base() ? suggest(base)
                                 : refuse("has its .text at " + hex(names_.text->begin) + ", but " +
                                          judge_.file_.path() + " has it at " + hex(text->address));
  }

  // Names that the file has too: they have to stand at the same places.
  [[nodiscard]] std::string object_to_named() const {
    std::unordered_multimap<std::string_view, Address> own;
    for (const Symbol& symbol : judge_.table_->symbols()) {
      if (!symbol.name.empty()) {
        own.emplace(symbol.name, symbol.range.begin);
      }
    }
    std::size_t agree = 0;
    std::size_t contradict = 0;
    const ListedName* example = nullptr;
    for (const ListedName& name : names_.names) {
      const auto [first, last] = own.equal_range(name.name);
      if (first == last) {
        continue;
      }
      const Address link = link_of(name);
      const bool same =
          std::any_of(first, last, [&](const auto& each) { return each.second == link; });
      ++(same ? agree : contradict);
      example = same ? example : &name;
    }
    if (contradict <= agree) {
      return {};
    }
    if (const auto base = better_base()) {
      return suggest(*base);
    }
    return refuse("has " + std::string(example->name) + " at " + hex(link_of(*example)) + ", but " +
                  judge_.file_.path() + " has it at " + hex(own.find(example->name)->second));
  }

  [[nodiscard]] std::string object_to_starts() const {
    const BaseScore score = score_base(names_.names, judge_.known_, judge_.code_, base_.base);
    if (judge_.known_.size() < kFewStarts && score.in_code > 0) {
      return {};
    }
    if (score.in_code > 0 && 2 * score.on_starts >= score.in_code) {
      return {};
    }
    if (const auto base = better_base()) {
      return suggest(*base);
    }
    if (score.in_code == 0) {
      return path_ + " names no function of " + judge_.file_.path() + ": it lends no names.";
    }
    return refuse("has " + std::to_string(score.in_code) + " names in the code of " +
                  judge_.file_.path() + ", but only " + std::to_string(score.on_starts) +
                  " where a function begins");
  }

  [[nodiscard]] std::optional<Address> better_base() const {
    return find_base(names_.names, judge_.known_, judge_.code_);
  }

  [[nodiscard]] std::string refuse(const std::string& why) const {
    return path_ + " " + why +
           ": it is of another build and lends no names. Give the list of the " +
           "very build that ran.";
  }

  [[nodiscard]] std::string suggest(Address base) const {
    const std::string written = base > ~base ? "-" + hex(Address{0} - base) : hex(base);
    return path_ + " has another base address than " + judge_.file_.path() +
           ": it lends no names. Its functions fit when " + written +
           " is taken off its addresses, so give it as " + path_ + "@" + written + ".";
  }

  [[nodiscard]] std::vector<Symbol> symbols() {
    std::vector<Symbol> symbols;
    std::sort(names_.names.begin(), names_.names.end(),
              [this](const ListedName& left, const ListedName& right) {
                return link_of(left) < link_of(right);
              });
    const auto& names = names_.names;
    for (auto first = names.begin(); first != names.end();) {
      const Address start = link_of(*first);
      const auto last = std::find_if(
          first, names.end(), [&](const ListedName& each) { return link_of(each) != start; });
      const AddressRange* part = range_before(judge_.code_, start);
      // Slots of the procedure linkage table are named by what they call, of another source.
      if (part != nullptr && part->contains(start) && !is_in_plt(judge_.file_, start)) {
        const Address next = last == names.end() ? part->end : link_of(*last);
        add_group({first, last}, start, std::min(next, part->end), symbols);
      }
      first = last;
    }
    return symbols;
  }

  // The names of one address; `next` is where the next listed name or the end of the code lies.
  void add_group(std::span<const ListedName> group, Address start, Address next,
                 std::vector<Symbol>& symbols) const {
    std::uint64_t size = 0;
    for (const ListedName& name : group) {
      size = std::max(size, names_.exact_sizes ? name.size : 0);
    }
    if (size == 0 && is_label(start)) {
      return;
    }
    for (const ListedName& name : group) {
      if (name.name.empty() ||
          (!names_.exact_sizes && start == judge_.file_.entry() && is_entry_word(name.name))) {
        continue;
      }
      Symbol symbol;
      const bool exact = names_.exact_sizes && name.size != 0;
      const Address end =
          exact ? start + std::min(name.size, ~start) : end_of(name, start, size, next);
      symbol.range = {start, std::min(end, range_before(judge_.code_, start)->end)};
      symbol.name = name.name;
      symbol.source = NameSource::symbol_file;
      symbol.global = name.global;
      symbol.weak = name.weak;
      symbol.exact_end = exact;
      symbols.push_back(symbol);
    }
  }

  // Of a name without a size of its own: with its alias's size, else up to what begins next.
  [[nodiscard]] Address end_of(const ListedName& name, Address start, std::uint64_t alias_size,
                               Address next) const {
    if (alias_size != 0) {
      return start + alias_size;
    }
    Address end = next;
    const auto known = std::upper_bound(judge_.known_.begin(), judge_.known_.end(), start);
    if (known != judge_.known_.end()) {
      end = std::min(end, *known);
    }
    if (const AddressRange* fde = range_before(judge_.fdes_, start);
        fde != nullptr && fde->begin == start) {
      end = std::min(end, fde->end);
    }
    const auto fde = std::upper_bound(judge_.fdes_.begin(), judge_.fdes_.end(),
                                      AddressRange{start, 0}, starts_before);
    if (fde != judge_.fdes_.end()) {
      end = std::min(end, fde->begin);
    }
    if (name.size != 0) {
      end = std::min(end, start + std::min(name.size, ~start));
    }
    if (name.limit != ~Address{0}) {
      end = std::min(end, name.limit - base_.base);
    }
    return std::max(end, start);
  }

  [[nodiscard]] bool is_label(Address start) const {
    const AddressRange* fde = range_before(judge_.fdes_, start);
    return fde != nullptr && fde->begin != start && fde->contains(start);
  }

  const ListJudge& judge_;
  ListedNames& names_;
  ListBase base_;
  const std::string& path_;
};

FittedList ListJudge::fit(ListedNames names, ListBase base, const std::string& path) const {
  return Fit(*this, names, base, path).run();
}

}  // namespace whocall
