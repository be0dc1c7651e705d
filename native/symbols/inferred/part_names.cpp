#include "symbols/inferred/part_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "base/interrupt.h"
#include "object/call_frame_info.h"
#include "object/lsda.h"
#include "object/mini_debug_info.h"
#include "rules/cfi_interpreter.h"
#include "symbols/discovery/part_parents.h"
#include "symbols/table/demangler.h"
#include "symbols/table/plt_symbols.h"

namespace whocall {
namespace {

constexpr int kHexadecimal = 16;
constexpr std::string_view kCold = ".cold";
// Of one function. Compilers make one or two; what is more serves only to cost time.
constexpr std::size_t kMostParts = 64;
constexpr std::size_t kLongestName = 1024;  // bytes of a function's, which each part would repeat

std::optional<Fde> table_entry(const ElfFile& file, Address start) {
  for (const CallFrameInfo* tables : frame_tables_of(file)) {
    const auto entry = tables != nullptr ? tables->find(start) : std::nullopt;
    if (entry && entry->range.begin == start) {
      return entry;
    }
  }
  return std::nullopt;
}

// The CFA at a function's first byte, and whether an expression computes one in the first rows.
struct FirstCfa {
  std::uint64_t number = 0;
  std::int64_t offset = 0;
  bool by_expression = false;
  bool is_behind = false;  // the first byte
  // Of a program of any length: that of a linker's table of PLT slots has its expression in the
  // third row.
  unsigned rows_left = 8;

  void define_cfa(std::uint64_t base, std::int64_t distance) {
    set_cfa_register(base);
    set_cfa_offset(distance);
  }
  void set_cfa_register(std::uint64_t base) { number = is_behind ? number : base; }
  void set_cfa_offset(std::int64_t distance) { offset = is_behind ? offset : distance; }
  void set_cfa_expression(const rules::ByteSpan& /*span*/) { by_expression = true; }
  void stored_at_cfa(std::uint64_t /*number*/, std::int64_t /*offset*/) {}
  void cfa_plus(std::uint64_t /*number*/, std::int64_t /*offset*/) {}
  void in_register(std::uint64_t /*number*/, std::uint64_t /*other*/) {}
  void stored_at(std::uint64_t /*number*/, const rules::ByteSpan& /*span*/) {}
  void computed(std::uint64_t /*number*/, const rules::ByteSpan& /*span*/) {}
  void undefined(std::uint64_t /*number*/) {}
  void same(std::uint64_t /*number*/) {}
  void restore(std::uint64_t /*number*/) {}
  bool remember() { return true; }
  bool recall() { return true; }
  void keep_initial() {}
  bool advance(std::uint64_t /*address*/) {
    is_behind = true;
    return --rows_left != 0;
  }
};

// Whether something enters there as calls do. Where exceptions land begins as what pointers lead
// to, and behind a call that does not return it looks like a start.
bool is_entered(StartEvidenceSet evidence) {
  return evidence.has(StartEvidence::call_target) || evidence.has(StartEvidence::code_pointer) ||
         evidence.has(StartEvidence::address_taken) || evidence.has(StartEvidence::init_array) ||
         evidence.has(StartEvidence::entry_point);
}

class PartFinder {
 public:
  explicit PartFinder(const NameEvidence& evidence) : evidence_(evidence) {}

  void find(std::vector<InferredName>& names) {
    const std::vector<Address> candidates = all_candidates();
    if (candidates.empty()) {
      return;
    }
    starts_ = &evidence_.starts();
    for (const Address start : candidates) {
      const auto range = starts_->function_at(start);
      if (range && range->begin == start && !is_entered(starts_->evidence_at(start))) {
        parts_[start].end = range->end;
      }
    }
    look_at_jumps();
    if (look_at_exceptions()) {
      append_names(names);
    }
  }

 private:
  struct Part {
    Address end = 0;
    std::set<Address> sources;  // starts of functions that go on there
  };

  [[nodiscard]] std::vector<Address> all_candidates() const {
    const SymbolRange symbols = evidence_.table.symbols();
    std::vector<Address> found;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      check_interrupt_at(i, kManyEntries);
      if (symbols.source(i) == NameSource::fde &&
          begins_within_frame(evidence_.file, evidence_.arch, symbols.start(i))) {
        found.push_back(symbols.start(i));
      }
    }
    return found;
  }

  void look_at_jumps() {
    std::vector<Address> wanted;
    for (const auto& [start, part] : parts_) {
      wanted.push_back(start);
    }
    PartParents parents(evidence_.file, evidence_.arch, *starts_, wanted);
    for (auto& [start, part] : parts_) {
      check_interrupt();
      for (const Address source : parents.jumping_to(start)) {
        add_source(source, start);
      }
    }
  }

  // False where there are more than can be looked at: then nobody knows what leads to a part.
  bool look_at_exceptions() {
    std::size_t left = kMostTableCalls;
    for (const CallFrameInfo* tables : frame_tables_of(evidence_.file)) {
      if (tables == nullptr) {
        continue;
      }
      tables->for_each([&](const Fde& entry) {
        for (const LandingPad& pad : landing_pads_of(evidence_.file, entry, left)) {
          add_source(entry.range.begin, pad.address);
        }
      });
    }
    return left != 0;
  }

  // `source` goes on at `target`; parts that do belong to the same function.
  void add_source(Address source, Address target) {
    Part* const part = part_at(target);
    if (part != nullptr && part_at(source) == nullptr) {
      const auto range = starts_->function_at(source);
      part->sources.insert(range ? range->begin : source);
    }
  }

  Part* part_at(Address address) {
    const auto behind = parts_.upper_bound(address);
    const auto found = behind != parts_.begin() ? std::prev(behind) : parts_.end();
    return found != parts_.end() && address < found->second.end ? &found->second : nullptr;
  }

  void append_names(std::vector<InferredName>& names) const {
    std::map<Address, std::size_t> counts;
    for (const auto& [start, part] : parts_) {
      counts[part.sources.size() == 1 ? *part.sources.begin() : 0] += 1;
    }
    for (const auto& [start, part] : parts_) {
      if (part.sources.size() == 1 && counts[*part.sources.begin()] <= kMostParts) {
        names.push_back({start, reference_to(*part.sources.begin()), NameSource::part,
                         "the jumps and exceptions that lead there"});
      }
    }
  }

  static std::string reference_to(Address function) {
    std::array<char, 2 * sizeof(Address)> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), function, kHexadecimal).ptr;
    return {digits.data(), end};
  }

  const NameEvidence& evidence_;
  const FunctionStarts* starts_ = nullptr;
  std::map<Address, Part> parts_;  // by start
};

}  // namespace

bool begins_within_frame(const ElfFile& file, const Architecture& arch, Address start) {
  const auto entry = table_entry(file, start);
  if (!entry || entry->cie == nullptr || entry->cie->signal_frame || is_in_plt(file, start)) {
    return false;
  }
  FirstCfa cfa;
  constexpr std::uint64_t kMostInstructions = 4096;  // bytes: eight rows take a fraction
  rules::CallFrameProgram<FirstCfa> program(*entry->cie, start, cfa);
  const rules::ByteSpan all = entry->instructions;
  if (program.run(all.part(all.begin, kMostInstructions)) == rules::ProgramEnd::damaged ||
      cfa.by_expression) {
    return false;
  }
  return cfa.number != arch.registers.sp || cfa.offset != arch.frame.cfa_on_entry;
}

void infer_part_names(const NameEvidence& evidence, std::vector<InferredName>& names) {
  PartFinder(evidence).find(names);
}

Address function_of_part(std::string_view name) {
  Address function = 0;
  std::from_chars(name.data(), name.data() + name.size(), function, kHexadecimal);
  return function;
}

// libiberty leaves out what stands behind Rust's names, and does not take D's with it.
std::string name_of_part(std::string_view symbol) {
  if (symbol.size() > kLongestName) {
    return {};
  }
  const std::string part = std::string(symbol).append(kCold);
  std::string whole = demangle(symbol);
  std::string shown = demangle(part);
  if (shown == whole || (shown == part && whole != symbol)) {
    shown = std::move(whole.append(kCold));
  }
  return shown.size() <= kLongestName ? shown : std::string();
}

}  // namespace whocall
