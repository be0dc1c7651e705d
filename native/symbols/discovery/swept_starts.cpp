#include "symbols/discovery/swept_starts.h"

#include <algorithm>
#include <utility>

#include "base/interrupt.h"
#include "base/sort_by_address.h"
#include "symbols/discovery/code_sweep.h"

namespace whocall {
namespace {

// One call is often none, but bytes of another instruction; pointers lead to labels too.
bool is_doubtful(const SweptFile& known, const FunctionStart& start) {
  StartEvidenceSet weak(StartEvidence::code_pointer);
  for (const StartEvidence kind :
       {StartEvidence::address_taken, StartEvidence::prologue, StartEvidence::alignment}) {
    weak |= kind;
  }
  return start.evidence == StartEvidence::call_target
             ? std::ranges::binary_search(known.called_once, start.address)
             : (start.evidence.bits() & ~weak.bits()) == 0;
}

// Nothing leads there; it looks like a start.
//
// Folklore. Situation: the last byte of an instruction is that of a return, and what follows is
// aligned by chance and pushes an argument. Example: add %eax,%ebx (01 c3); push %esi, of gcc -m32.
// Remedy: who reads the function from its start sees that it goes on there. A pointer to a place
// that the code before goes on into may be a function's all the same, as in hand-written code.
bool is_guess(const FunctionStart& start) {
  StartEvidenceSet guesses(StartEvidence::prologue);
  guesses |= StartEvidence::alignment;
  return (start.evidence.bits() & ~guesses.bits()) == 0;
}

// What was not read, ascending: what is delimited, and what stands behind data.
class UnreadCode {
 public:
  explicit UnreadCode(const SweptFile& known) : known_(known) {}

  void add(const AddressRange& range) {
    if (!ranges_.empty() && ranges_.back().end == range.begin) {
      ranges_.back().end = range.end;
    } else if (range.begin < range.end) {
      ranges_.push_back(range);
    }
  }

  // Any bytes there that look like a direct call may be one; ascending.
  [[nodiscard]] std::vector<Address> call_targets() const {
    std::vector<Address> targets;
    for (const AddressRange& range : ranges_) {
      const ByteView code = known_.file.at(range.begin);
      append_targets(code, {range.begin, range.begin + std::min(range.size(), code.size())},
                     targets);
    }
    sort_by_address(targets, [](Address address) { return address; });
    return targets;
  }

 private:
  void append_targets(ByteView code, const AddressRange& range,
                      std::vector<Address>& targets) const {
    const CodeModel& model = known_.arch.code;
    for (Address at = range.begin + 1; at <= range.end && model.call_before != nullptr; ++at) {
      check_interrupt_at(at - range.begin, kManyBytes);
      const std::size_t before = std::min<std::size_t>(at - range.begin, model.longest_call);
      const auto window = code.slice(at - range.begin - before, before);
      const auto call = window ? model.call_before(*window, at) : std::nullopt;
      if (call && !call->indirect && call->target) {
        targets.push_back(*call->target);
      }
    }
  }

  const SweptFile& known_;
  std::vector<AddressRange> ranges_{};
};

UnreadCode read_all(const SweptFile& known, const std::vector<FunctionStart>& starts,
                    const std::vector<Address>& doubtful, CodeSweep& sweep) {
  const SymbolRange all = known.symbols.symbols();
  std::size_t next = 0;
  Address covered = 0;
  UnreadCode unread(known);
  for (std::size_t i = 0; i < starts.size();) {
    const Address begin = starts[i].address;
    do {
      ++i;
    } while (i < starts.size() && is_doubtful(known, starts[i]));
    for (; next < all.size() && all.start(next) <= begin; ++next) {
      covered = all.exact_end(next) ? std::max(covered, all.range(next).end) : covered;
    }
    const auto area = std::ranges::find_if(
        known.areas, [&](const AddressRange& candidate) { return candidate.contains(begin); });
    if (area == known.areas.end()) {
      continue;
    }
    const bool last = i == starts.size() || !area->contains(starts[i].address);
    const AddressRange range{begin, last ? area->end : starts[i].address};
    const bool called = !last && starts[i].evidence.called();
    unread.add({begin < covered ? begin : sweep.read(range, called, doubtful), range.end});
  }
  return unread;
}

}  // namespace

std::vector<Address> sweep_code(const SweptFile& known, std::vector<Address> taken,
                                std::vector<FunctionStart>& starts) {
  if (known.arch.code.alignment != 1) {
    return {};  // instructions are words: all places behind an end were looked at
  }
  CodeSweep sweep(known.file, known.arch, known.pointers, known.alignment, std::move(taken));
  std::vector<Address> doubtful;
  for (const FunctionStart& start : starts) {
    if (is_doubtful(known, start)) {
      doubtful.push_back(start.address);
    }
  }
  const UnreadCode unread = read_all(known, starts, doubtful, sweep);
  const bool asks = std::ranges::any_of(starts, [&](const FunctionStart& start) {
    return start.evidence.has(StartEvidence::call_target) && is_doubtful(known, start);
  });
  const std::vector<Address> called = asks ? unread.call_targets() : std::vector<Address>();
  std::erase_if(starts, [&](const FunctionStart& start) {
    if (!std::ranges::binary_search(doubtful, start.address)) {
      return false;
    }
    if (start.evidence.has(StartEvidence::call_target)) {
      return !sweep.calls(start.address) && !std::ranges::binary_search(called, start.address);
    }
    return sweep.refutes(start.address) || (is_guess(start) && sweep.falls_into(start.address));
  });
  return sweep.starts();
}

}  // namespace whocall
