#include "symbols/function_starts.h"

#include <algorithm>
#include <utility>

#include "base/interrupt.h"
#include "symbols/code_areas.h"
#include "symbols/code_pointers.h"
#include "symbols/entry_names.h"

namespace whocall {
namespace {

// Sorted by address, the witnesses of one address together.
void unite(std::vector<FunctionStart>& claims) {
  std::ranges::sort(claims, {}, &FunctionStart::address);
  std::size_t kept = 0;
  for (const FunctionStart& claim : claims) {
    if (kept != 0 && claims[kept - 1].address == claim.address) {
      claims[kept - 1].witnesses |= claim.witnesses;
    } else {
      claims[kept++] = claim;
    }
  }
  claims.resize(kept);
}

class Collector {
 public:
  Collector(const ElfFile& file, const Architecture& arch, const std::vector<AddressRange>& areas)
      : file_(file), arch_(arch), areas_(areas) {}

  std::vector<FunctionStart> run(const SymbolTable& symbols) {
    add_symbols(symbols);
    for (const AddressRange& part : code_parts(file_)) {
      add(part.begin, StartWitness::section_start);
    }
    if (file_.entry() != 0) {
      add(file_.entry(), StartWitness::entry_point);
    }
    for (const InferredName& function : startup_functions(file_, arch_)) {
      add(function.function, StartWitness::entry_point);
    }
    add_marks(marks_of_code());
    unite(claims_);
    drop_inside_delimited();
    return std::move(claims_);
  }

 private:
  void add(Address address, StartWitnesses witnesses) { claims_.push_back({address, witnesses}); }

  void add_all(const std::vector<Address>& addresses, StartWitness witness) {
    for (const Address address : addresses) {
      add(address, witness);
    }
  }

  void add_symbols(const SymbolTable& symbols) {
    for (const Symbol& symbol : symbols.symbols()) {
      add(symbol.range.begin, witness_of(symbol.source));
      if (symbol.exact_end && !symbol.range.empty()) {
        delimited_.push_back(symbol.range);
      }
    }
  }

  StartMarks marks_of_code() const {
    StartMarks marks;
    for (const AddressRange& area : areas_) {
      const ByteView code = file_.at(area.begin);
      const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()));
      if (inside && arch_.append_start_marks != nullptr) {
        arch_.append_start_marks(*inside, area.begin, marks);
      }
    }
    return marks;
  }

  void add_marks(StartMarks marks) {
    add_calls(marks.call_targets);
    const CodePointers pointers(file_, arch_, areas_, std::move(marks.data_taken));
    for (const Address target : pointers.initializers()) {
      add(target, StartWitness::init_array);
    }
    for (const Address target : pointers.functions()) {
      const StartLook look = look_at(target);
      add_if((look.behind_end && !look.catches) || looks_like_function(target), target,
             StartWitness::code_pointer);
    }
    for (const Address target : marks.address_taken) {
      add_if(looks_like_function(target), target, StartWitness::address_taken);
    }
    for (const Address pad : marks.landing_pads) {
      const StartLook look = look_at(pad);
      add_if(look.behind_end && !look.catches && (look.prologue || may_stand_at(pad)), pad,
             StartWitness::landing_pad);
    }
    for (const Address guess : marks.prologues) {
      add_if(!pointers.is_case(guess) && !look_at(guess).catches, guess, StartWitness::prologue);
    }
    for (const Address guess : marks.aligned) {
      add_if(!pointers.is_case(guess) && !look_at(guess).catches, guess, StartWitness::alignment);
    }
  }

  void add_if(bool holds, Address address, StartWitness witness) {
    check_interrupt_at(asked_++, kManyEntries);  // each cost a look at the code
    if (holds) {
      add(address, witness);
    }
  }

  // A single byte e8 may be a part of another instruction: what is called once has to look like a
  // start, what is called again need not.
  void add_calls(std::vector<Address>& targets) {
    std::ranges::sort(targets);
    std::size_t distinct = 0;
    std::size_t aligned = 0;
    for (std::size_t i = 0; i < targets.size();) {
      std::size_t next = i + 1;
      while (next < targets.size() && targets[next] == targets[i]) {
        ++next;
      }
      const Address target = targets[i];
      ++distinct;
      aligned += is_aligned(target) ? 1U : 0U;
      add_if(next - i > 1 || is_aligned(target) || may_be_called(target), target,
             StartWitness::call_target);
      i = next;
    }
    functions_are_aligned_ = 2 * aligned > distinct;
  }

  // Behind a call that never returns nothing tells that the flow ends.
  [[nodiscard]] bool may_be_called(Address target) const {
    const StartLook look = look_at(target);
    if (look.behind_end || look.prologue) {
      return true;
    }
    const ByteView before = file_.at(target - arch_.longest_call);
    const auto call = before.slice(0, arch_.longest_call);
    return call && arch_.call_before != nullptr && arch_.call_before(*call, target).has_value();
  }

  [[nodiscard]] bool is_aligned(Address address) const {
    return address % arch_.function_alignment == 0;
  }
  // Compilers align all functions of a file or, asked for small code, hardly any.
  [[nodiscard]] bool may_stand_at(Address address) const {
    return is_aligned(address) || !functions_are_aligned_;
  }

  // Instructions take the addresses of labels too, and of data that only look like code. Where the
  // compiler aligned the functions, a start must be aligned or begin as functions do; behind a call
  // that never returns nothing tells that the flow ends.
  [[nodiscard]] bool looks_like_function(Address address) const {
    const StartLook look = look_at(address);
    if (look.catches) {
      return false;
    }
    return look.behind_end ? look.prologue || may_stand_at(address)
                           : is_aligned(address) && (look.prologue || look.landing_pad);
  }

  [[nodiscard]] StartLook look_at(Address address) const {
    const auto area = std::ranges::find_if(
        areas_, [&](const AddressRange& candidate) { return candidate.contains(address); });
    if (area == areas_.end() || arch_.look_at_start == nullptr) {
      return {};
    }
    // A damaged file tells of more code than it has.
    const ByteView code = file_.at(area->begin);
    const std::uint64_t offset = address - area->begin;
    return offset < code.size() ? arch_.look_at_start(code, offset) : StartLook();
  }

  // What a symbol's own size or an unwind table delimits is one function: nothing weaker cuts it.
  // Certain starts inside it do, as FDEs of parts and symbols without a size (labels of
  // hand-written code, which others call) are meant.
  void drop_inside_delimited() {
    std::ranges::sort(delimited_, {}, &AddressRange::begin);
    auto range = delimited_.begin();
    Address covered = 0;
    std::erase_if(claims_, [&](const FunctionStart& start) {
      while (range != delimited_.end() && range->begin < start.address) {
        covered = std::max(covered, range->end);
        ++range;
      }
      return start.address < covered && !start.witnesses.certain();
    });
  }

  const ElfFile& file_;
  const Architecture& arch_;
  const std::vector<AddressRange>& areas_;
  std::vector<FunctionStart> claims_;
  std::vector<AddressRange> delimited_;
  std::size_t asked_ = 0;
  bool functions_are_aligned_ = true;
};

}  // namespace

FunctionStarts::FunctionStarts(const ElfFile& file, const Architecture& arch,
                               const SymbolTable& symbols)
    : areas_(code_areas(file)), starts_(Collector(file, arch, areas_).run(symbols)) {}

StartWitnesses FunctionStarts::witnesses_at(Address link) const {
  const auto found = std::ranges::lower_bound(starts_, link, {}, &FunctionStart::address);
  return found != starts_.end() && found->address == link ? found->witnesses : StartWitnesses();
}

std::optional<AddressRange> FunctionStarts::function_at(Address link) const {
  const auto area = std::ranges::find_if(
      areas_, [&](const AddressRange& candidate) { return candidate.contains(link); });
  const auto next = std::ranges::upper_bound(starts_, link, {}, &FunctionStart::address);
  if (area == areas_.end() || next == starts_.begin()) {
    return std::nullopt;
  }
  return AddressRange{std::prev(next)->address,
                      next == starts_.end() ? area->end : std::min(next->address, area->end)};
}

}  // namespace whocall
