#include "symbols/discovery/swept_starts.h"

#include <algorithm>
#include <utility>

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

// Whether everything was read; else something is delimited.
bool read_all(const SweptFile& known, const std::vector<FunctionStart>& starts,
              const std::vector<Address>& doubtful, CodeSweep& sweep) {
  const SymbolRange all = known.symbols.symbols();
  std::size_t next = 0;
  Address covered = 0;
  bool whole = true;
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
    if (begin < covered || area == known.areas.end()) {
      whole = whole && area == known.areas.end();
      continue;
    }
    const bool last = i == starts.size() || !area->contains(starts[i].address);
    sweep.read({begin, last ? area->end : starts[i].address}, !last && starts[i].evidence.called(),
               doubtful);
  }
  return whole;
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
  const bool whole = read_all(known, starts, doubtful, sweep);
  std::erase_if(starts, [&](const FunctionStart& start) {
    if (!std::ranges::binary_search(doubtful, start.address)) {
      return false;
    }
    if (start.evidence.has(StartEvidence::call_target)) {
      return whole && !sweep.calls(start.address);
    }
    return sweep.refutes(start.address) || (is_guess(start) && sweep.falls_into(start.address));
  });
  return sweep.starts();
}

}  // namespace whocall
