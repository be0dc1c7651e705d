#include "symbols/discovery/function_starts.h"

#include <elf.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/distinct_addresses.h"
#include "base/interrupt.h"
#include "base/long_work.h"
#include "base/sort_by_address.h"
#include "object/exidx.h"
#include "object/global_offset_table.h"
#include "object/mips_procedure_table.h"
#include "symbols/discovery/code_pointers.h"
#include "symbols/discovery/function_alignment.h"
#include "symbols/discovery/gap_starts.h"
#include "symbols/discovery/start_merger.h"
#include "symbols/discovery/startup_functions.h"
#include "symbols/discovery/swept_starts.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

// Ascending; one address may stand there more than once.
std::vector<Address> in_order(std::vector<Address> addresses) {
  sort_by_address(addresses, [](Address address) { return address; });
  return addresses;
}

// Folklore. Situation: a symbol stands for a part of a function. Example: gcc's parse.cold, and
// parse.cold.3 of gcc 8: parse jumps there, and its frame lies on the stack. Remedy: what its name
// tells of is written down as by an unwind table, which does not say either that it is called.
bool is_part(std::string_view name) {
  constexpr std::string_view kCold = ".cold";
  const std::size_t at = name.rfind(kCold);
  return at != std::string_view::npos && at != 0 &&
         std::ranges::all_of(name.substr(at + kCold.size()),
                             [](char each) { return each == '.' || (each >= '0' && each <= '9'); });
}

// Folklore. Situation: an assembler's own label is left in the symbol table, where a relocation
// needed it. Example: i386's libgcc.a has .L52 where read_encoded_value.cold begins, and a static
// program keeps it. Remedy: such a label says nothing of functions.
bool is_label(std::string_view name) { return name.starts_with(".L"); }

class Collector {
 public:
  Collector(const ElfFile& file, const Architecture& arch, const std::vector<AddressRange>& areas)
      : file_(file),
        arch_(arch),
        areas_(areas),
        delimited_(ranges_of_tables(file)),
        alignment_(arch.code.function_alignment) {}

  std::vector<FunctionStart> run(const SymbolTable& symbols) {
    const LongWork work("Looking for functions in", file_.path());
    claims_ = StartMerger(starts_of(symbols));
    for (const AddressRange& part : code_parts(file_)) {
      chosen_.push_back(part.begin);
    }
    join_chosen(StartEvidence::section_start);
    if (file_.entry() != 0) {
      chosen_.push_back(arch_.code_address(file_.entry()));
    }
    for (const StartupFunction& function : startup_functions(file_, arch_)) {
      chosen_.push_back(function.address);
    }
    join_chosen(StartEvidence::entry_point);
    if (const Exidx* index = exception_index_of(file_)) {
      claims_.join(index->function_starts(), StartEvidence::fde);
    }
    // The linker leaves 0 of a function that it threw away.
    for (const Address start : procedure_starts(file_)) {
      choose_if(start % arch_.code.alignment == 0 && is_code(start), start);
    }
    join_chosen(StartEvidence::pdr);
    claims_.join(gap_starts(file_, arch_, areas_, delimited_), StartEvidence::call_target);
    add_marks(marks_of_code());
    std::vector<FunctionStart> starts = std::move(claims_).take();
    drop_inside_delimited(symbols, starts);
    swept_ = sweep_code({file_, arch_, areas_, symbols, *pointers_, alignment_, called_once_},
                        std::move(taken_), starts);
    claims_ = StartMerger(std::move(starts));
    claims_.join(swept_, StartEvidence::unreached);
    return std::move(claims_).take();
  }

 private:
  static std::vector<FunctionStart> starts_of(const SymbolTable& symbols) {
    const SymbolRange all = symbols.symbols();
    std::vector<FunctionStart> starts;
    starts.reserve(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      check_interrupt_at(i, kManyEntries);
      const std::string_view name = all[i].name;
      if (!is_label(name)) {
        starts.push_back({all.start(i), is_part(name) ? StartEvidenceSet(StartEvidence::fde)
                                                      : evidence_of(all.source(i))});
      }
    }
    return starts;
  }

  StartMarks marks_of_code() const {
    StartMarks marks;
    for (const AddressRange& area : areas_) {
      const ByteView code = file_.at(area.begin);
      const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()));
      if (inside && arch_.code.append_start_marks != nullptr) {
        arch_.code.append_start_marks(*inside, area.begin, marks);
      }
      if (inside && (arch_.code.callee || marks_functions())) {
        append_taken(*inside, area, marks);
      }
    }
    return marks;
  }

  // Whether a bit of an address says that it is a function's, and what it is made of (ARM: T32).
  [[nodiscard]] bool marks_functions() const { return arch_.code_address(1) != 1; }

  // Folklore. Situation: nothing calls a function directly, and no pointer in the data leads to it.
  // Example: on MIPS, ld a3,%got_page(compare)(gp); daddiu a3,a3,%got_ofst(compare) before a call
  // of qsort; in T32, ldr r2,[pc,#64]; add r2,pc before a call of glibc's __tunable_get_val.
  // Remedy: read the words of the global offset table, and constants, with the code; where
  // functions' addresses are marked, the others are data in between.
  void append_taken(ByteView code, const AddressRange& area, StartMarks& marks) const {
    if (arch_.code.append_named_addresses == nullptr) {
      return;
    }
    std::vector<Address> named;
    arch_.code.append_named_addresses(code, area.begin, global_table(file_),
                                      file_.type() == ET_EXEC, area, named);
    for (const Address each : named) {
      const Address start = arch_.code_address(each);
      if (start % arch_.code.alignment == 0 && (start != each || !marks_functions())) {
        marks.address_taken.push_back(start);
      }
    }
  }

  void add_marks(StartMarks marks) {
    add_calls(std::move(marks.call_targets));
    const CodePointers& pointers =
        pointers_.emplace(file_, arch_, areas_, std::move(marks.data_taken));
    chosen_.assign(pointers.initializers().begin(), pointers.initializers().end());
    join_chosen(StartEvidence::init_array);
    for (const Address target : pointers.functions()) {
      const StartFeatures features = features_at(target);
      const bool behind =
          features.behind_end || (may_stand_at(target) && stands_behind_call(target));
      choose_if((behind && !features.catches) || looks_like_function(target), target);
    }
    join_chosen(StartEvidence::code_pointer);
    for (const Address target : marks.address_taken) {
      choose_if(looks_like_function(target), target);
    }
    join_chosen(StartEvidence::address_taken);
    taken_ = std::move(marks.address_taken);
    const auto is_case = [&](Address guess) { return pointers.is_case(guess); };
    std::erase_if(marks.landing_pads, is_case);  // of computed jumps
    for (const Address pad : marks.landing_pads) {
      const StartFeatures features = features_at(pad);
      const bool inside = features.catches || (features.leaves && functions_are_aligned_at(pad));
      choose_if(features.behind_end && !inside && (features.prologue || may_stand_at(pad)), pad);
    }
    join_chosen(StartEvidence::landing_pad);
    std::erase_if(marks.prologues, is_case);
    claims_.join(in_order(std::move(marks.prologues)), StartEvidence::prologue);
    std::erase_if(marks.aligned, is_case);
    for (const Address guess : marks.aligned) {
      choose_if(!features_at(guess).catches, guess);  // what begins as functions do catches nothing
    }
    join_chosen(StartEvidence::alignment);
  }

  void choose_if(bool holds, Address address) {
    check_interrupt_at(asked_++, kManyEntries);  // each cost a look at the code
    if (holds) {
      chosen_.push_back(address);
    }
  }

  void join_chosen(StartEvidence kind) {
    chosen_ = in_order(std::move(chosen_));
    claims_.join(chosen_, kind);
    chosen_.clear();
  }

  [[nodiscard]] bool is_code(Address address) const {
    return std::ranges::any_of(areas_,
                               [&](const AddressRange& area) { return area.contains(address); });
  }

  // A single byte e8 may be a part of another instruction: what is called once has to look like a
  // start, what is called again need not.
  void add_calls(std::vector<Address> targets) {
    for_each_distinct(std::move(targets), [&](Address target, bool repeated) {
      check_interrupt_at(asked_++, kManyEntries);
      alignment_.add(target);
      if (repeated || is_aligned(target) || may_be_called(target)) {
        chosen_.push_back(target);
        if (!repeated) {
          called_once_.push_back(target);
        }
      }
    });
    join_chosen(StartEvidence::call_target);
  }

  [[nodiscard]] bool may_be_called(Address target) const {
    const StartFeatures features = features_at(target);
    return features.behind_end || features.prologue || stands_behind_call(target);
  }

  // Behind a call that never returns nothing tells that the flow ends.
  [[nodiscard]] bool stands_behind_call(Address address) const {
    const ByteView before = file_.at(address - arch_.code.longest_call);
    const auto call = before.slice(0, arch_.code.longest_call);
    return call && arch_.code.call_before != nullptr &&
           arch_.code.call_before(*call, address).has_value();
  }

  [[nodiscard]] bool is_aligned(Address address) const { return alignment_.is_aligned(address); }

  [[nodiscard]] bool functions_are_aligned_at(Address address) const {
    const FunctionAlignment::Share called = alignment_.around(address);
    return 2 * called.aligned > called.functions;
  }

  [[nodiscard]] bool may_stand_at(Address address) const {
    return is_aligned(address) || !functions_are_aligned_at(address);
  }

  // Instructions take the addresses of labels too, and of data that only look like code. Where the
  // compiler aligned the functions, a start must be aligned or begin as functions do; behind a call
  // that never returns nothing tells that the flow ends. Where instructions may begin at any byte,
  // it must be aligned then, as chance has too many places; where the compiler aligned none, a call
  // must end right before it. Example: gcc -O1, a function that ends with `call abort`, and behind
  // it a callback of qsort. What stands right where a table's function ends is no part of that.
  // Example: gcc -Os for AArch64 without tables, a handler of signals behind frame_dummy of the
  // startup files, which have tables and are aligned.
  [[nodiscard]] bool looks_like_function(Address address) const {
    const StartFeatures features = features_at(address);
    if (features.catches) {
      return false;
    }
    const bool begins = features.prologue || features.landing_pad;
    const bool may_be = is_aligned(address) || arch_.code.alignment > 1 ||
                        (!functions_are_aligned_at(address) && stands_behind_call(address));
    return features.behind_end
               ? features.prologue || may_stand_at(address) || begins_gap(delimited_, address)
               : begins && may_be;
  }

  [[nodiscard]] StartFeatures features_at(Address address) const {
    const auto area = std::ranges::find_if(
        areas_, [&](const AddressRange& candidate) { return candidate.contains(address); });
    if (area == areas_.end() || arch_.code.features_at_start == nullptr) {
      return {};
    }
    // A damaged file tells of more code than it has.
    const ByteView code = file_.at(area->begin);
    const std::uint64_t offset = address - area->begin;
    return offset < code.size() ? arch_.code.features_at_start(code, offset) : StartFeatures();
  }

  // What a symbol's own size or an unwind table delimits is one function: nothing weaker cuts it.
  // Certain starts inside it do, as FDEs of parts and symbols without a size (labels of
  // hand-written code, which others call) are meant.
  static void drop_inside_delimited(const SymbolTable& symbols,
                                    std::vector<FunctionStart>& starts) {
    const SymbolRange all = symbols.symbols();
    std::size_t next = 0;
    Address covered = 0;
    std::erase_if(starts, [&](const FunctionStart& start) {
      for (; next < all.size() && all.start(next) < start.address; ++next) {
        covered = all.exact_end(next) ? std::max(covered, all.range(next).end) : covered;
      }
      return start.address < covered && !start.evidence.certain();
    });
  }

  const ElfFile& file_;
  const Architecture& arch_;
  const std::vector<AddressRange>& areas_;
  std::vector<AddressRange> delimited_;  // by unwind tables
  StartMerger claims_{{}};
  std::optional<CodePointers> pointers_;
  std::vector<Address> called_once_;  // where a function begins if that is a call; ascending
  std::vector<Address> taken_;        // by instructions, whatever it is
  std::vector<Address> swept_;
  std::vector<Address> chosen_;  // of the kind of evidence that is now being joined
  std::size_t asked_ = 0;
  FunctionAlignment alignment_;  // of what is called
};

}  // namespace

FunctionStarts::FunctionStarts(const ElfFile& file, const Architecture& arch,
                               const SymbolTable& symbols)
    : areas_(code_areas(file)), starts_(Collector(file, arch, areas_).run(symbols)) {}

FunctionStarts::FunctionStarts(const ElfFile& file, std::vector<FunctionStart> starts)
    : areas_(code_areas(file)), starts_(std::move(starts)) {}

StartEvidenceSet FunctionStarts::evidence_at(Address link) const {
  const auto found = std::ranges::lower_bound(starts_, link, {}, &FunctionStart::address);
  return found != starts_.end() && found->address == link ? found->evidence : StartEvidenceSet();
}

std::optional<AddressRange> FunctionStarts::function_at(Address link) const {
  const auto next = std::ranges::upper_bound(starts_, link, {}, &FunctionStart::address);
  if (next == starts_.begin()) {
    return std::nullopt;
  }
  return function_around(link, static_cast<std::size_t>(next - starts_.begin()) - 1);
}

std::optional<AddressRange> FunctionStarts::function_of(std::size_t index) const {
  return function_around(starts_[index].address, index);
}

// `link` lies behind starts_[index] and before the next one.
std::optional<AddressRange> FunctionStarts::function_around(Address link, std::size_t index) const {
  const auto area = std::ranges::find_if(
      areas_, [&](const AddressRange& candidate) { return candidate.contains(link); });
  if (area == areas_.end()) {
    return std::nullopt;
  }
  const Address end =
      index + 1 == starts_.size() ? area->end : std::min(starts_[index + 1].address, area->end);
  return AddressRange{starts_[index].address, end};
}

}  // namespace whocall
