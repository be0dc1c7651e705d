#include "symbols/discovery/code_sweep.h"

#include <algorithm>
#include <utility>

#include "base/interrupt.h"
#include "base/sort_by_address.h"
#include "object/elf_decoder.h"
#include "symbols/discovery/register_use.h"

namespace whocall {
namespace {

using Flow = Instruction::Flow;

bool is_branch(const Instruction& instruction) {
  return instruction.flow == Flow::branch || instruction.flow == Flow::branch_if_unequal;
}

}  // namespace

// What is read of one function after the other.
class CodeSweep::Function {
 public:
  Function(CodeSweep& sweep, const AddressRange& range, bool known,
           std::span<const Address> doubtful)
      : sweep_(sweep),
        range_(range),
        known_(known),
        doubtful_(doubtful),
        first_(sweep.found_.size()),
        stack_(sweep.arch_) {
    reached_ = range.begin;
    function_ = range.begin;
    base_ = range.begin;
  }

  Address read() {
    const ByteView code = sweep_.file_.at(range_.begin);
    for (Address at = range_.begin; at < range_.end;) {
      check_interrupt_at(sweep_.asked_++, kManyEntries);
      const bool may_be_gap = ended_ || call_;
      if (const auto behind = may_be_gap ? sweep_.behind_zeros(at, range_.end) : at; behind != at) {
        at = behind;
        padded_ = true;
        ended_ = true;  // nobody goes on there
        goes_on_ = false;
        continue;
      }
      const auto instruction = sweep_.decoder_->decode(code.from(at - range_.begin), at);
      if (!instruction || instruction->size == 0) {
        drop_last();  // data
        return at;
      }
      if (instruction->padding && (ended_ || call_)) {
        padded_ = true;
      } else {
        begin(at);
        go(at, *instruction);
      }
      at += instruction->size;
    }
    end();
    return range_.end;
  }

 private:
  void begin(Address at) {
    const bool jumped_over = reached_ >= at;
    const bool reached = jumped_over || cases_reach_ >= at;
    if (is_doubtful(at) && goes_on_) {
      sweep_.fallen_into_.insert(at);
    }
    if (is_doubtful(at) && jumped_over) {
      sweep_.refuted_.insert(at);
    } else if (!reached && is_doubtful(at) &&
               (ended_ || (call_ && sweep_.may_begin(at, padded_, true)))) {
      first_ = sweep_.found_.size();
      base_ = at;
      begin_function(at);
    } else if (ended_ && !reached && sweep_.may_begin(at, padded_, returned_)) {
      sweep_.found_.push_back({at, {}, padded_});
      begin_function(at);
    } else if (const bool taken = std::ranges::binary_search(sweep_.taken_, at);
               call_ && !reached && at != range_.begin && sweep_.may_begin(at, padded_, taken)) {
      sweep_.found_.push_back({at, taken ? std::nullopt : call_, padded_});
    }
    returned_ = false;
    ended_ = false;
    padded_ = false;
    call_.reset();
  }

  void begin_function(Address at) {
    end_function();
    function_ = at;
    comes_back_ = false;
    cases_reach_ = 0;
    stack_.begin();
  }

  // What neither returns nor goes to where nobody knows ends with a call that never comes back.
  void end_function() { sweep_.calls_[function_].never_returns = !comes_back_; }

  void go(Address at, const Instruction& instruction) {
    goes_on_ = instruction.flow == Flow::next || is_branch(instruction);
    switch (instruction.flow) {
      case Flow::call:
        call_ = instruction.target;
        if (call_) {
          ++sweep_.calls_[*call_].all;
        }
        break;
      case Flow::jump:
        if (leaves_by(*instruction.target)) {
          comes_back_ = true;
        } else {
          jump(*instruction.target);
        }
        ended_ = true;
        break;
      case Flow::branch:
      case Flow::branch_if_unequal:
        if (instruction.target) {
          jump(*instruction.target);
        }
        break;
      case Flow::indirect_jump:
        jump_by_table(at);
        ended_ = true;
        comes_back_ = true;
        break;
      case Flow::stop:
        ended_ = true;
        returned_ = instruction.returns;
        comes_back_ = comes_back_ || returned_;
        break;
      case Flow::next:
        break;
    }
    stack_.pass(instruction);
  }

  // Whether a jump is the end of the function, and its target another one.
  [[nodiscard]] bool leaves_by(Address target) const {
    if (!range_.contains(target) || target <= range_.begin) {
      return false;
    }
    const StartFeatures features = sweep_.features_at(target, range_);
    const bool aligned = sweep_.are_aligned_at(target);
    return features.behind_end && (!aligned || sweep_.alignment_.is_aligned(target)) &&
           (stack_.is_given_back() || (aligned && stack_.is_untouched()));
  }

  void jump(Address target) {
    if (!range_.contains(target) || is_doubtful(target)) {
      sweep_.jumped_to_.insert(target);
      comes_back_ = true;
      return;
    }
    reached_ = std::max(reached_, target);
    // Nobody jumps into the middle of what stands before: it is all one function.
    while (sweep_.found_.size() > first_ && target < sweep_.found_.back().start) {
      sweep_.found_.pop_back();
      function_ = sweep_.found_.size() > first_ ? sweep_.found_.back().start : base_;
      sweep_.calls_[function_].never_returns = false;
      comes_back_ = true;
    }
  }

  // Where the targets are not known, all that follows may be among them.
  void jump_by_table(Address at) {
    const Address last = sweep_.last_case_before(range_.end);
    cases_reach_ = std::max(cases_reach_, last > at ? last : range_.end);
  }

  [[nodiscard]] bool is_doubtful(Address at) const {
    return std::ranges::binary_search(doubtful_, at);
  }

  void end() {
    if (call_ && known_) {
      ++sweep_.calls_[*call_].last;
    }
    if (ended_ || call_) {
      end_function();
    } else {
      drop_last();  // it goes on in what follows
    }
  }

  void drop_last() {
    if (sweep_.found_.size() > first_) {
      sweep_.found_.pop_back();
    }
  }

  CodeSweep& sweep_;
  AddressRange range_;
  bool known_;
  std::span<const Address> doubtful_;
  std::size_t first_;        // of what was found here
  Address reached_;          // the farthest place that a direct jump leads to
  Address cases_reach_ = 0;  // the same for jumps by tables
  StackUse stack_;
  bool goes_on_ = false;  // the instruction before does, in any case: it is no call
  bool ended_ = false;
  bool padded_ = false;
  bool returned_ = false;
  bool comes_back_ = false;      // the function that is being read
  Address function_ = 0;         // where that begins
  Address base_ = 0;             // where the one does that first_ follows
  std::optional<Address> call_;  // the direct call right before
};

CodeSweep::CodeSweep(const ElfFile& file, const Architecture& arch, const CodePointers& pointers,
                     const FunctionAlignment& alignment, std::vector<Address> taken)
    : file_(file),
      arch_(arch),
      pointers_(pointers),
      alignment_(alignment),
      decoder_(decoder_for(file, arch)),
      cases_(pointers.cases()),
      taken_(std::move(taken)) {
  sort_by_address(taken_, [](Address address) { return address; });
  sort_by_address(cases_, [](Address address) { return address; });
}

CodeSweep::~CodeSweep() = default;

Address CodeSweep::read(const AddressRange& range, bool known, std::span<const Address> doubtful) {
  constexpr std::size_t kFewBytes = 8;  // of a function on the average
  constexpr std::size_t kFew = 64;      // functions: so many tiny ones may follow one another
  if (decoder_ == nullptr) {
    return range.begin;
  }
  const std::size_t before = found_.size();
  const Address end = Function(*this, range, known, doubtful).read();
  const std::size_t count = found_.size() - before;
  if (count > kFew && count > range.size() / kFewBytes) {
    found_.resize(before);  // megabytes of the byte of a return are no code
  }
  return end;
}

// Who ever returns is hardly ever called right before another function.
bool CodeSweep::never_returns(Address target) const {
  constexpr std::uint32_t kSeldom = 8;
  const auto found = calls_.find(target);
  return found != calls_.end() &&
         (found->second.never_returns ||
          (found->second.last != 0 && kSeldom * found->second.last >= found->second.all));
}

std::vector<Address> CodeSweep::starts() const {
  std::vector<Address> starts;
  for (const Candidate& each : found_) {
    const bool behind_end = !each.behind_call || never_returns(*each.behind_call);
    // Without padding chance may have aligned a block that a part elsewhere goes back to.
    const bool doubtful =
        !each.padded && are_aligned_at(each.start) && jumped_to_.contains(each.start);
    if (behind_end && !doubtful) {
      starts.push_back(each.start);
    }
  }
  return starts;
}

// In a file whose functions are aligned others of its functions may not be; but none of their
// blocks stands behind a return without padding, unless a jump leads there.
bool CodeSweep::may_begin(Address at, bool padded, bool returned) const {
  if (pointers_.is_case(at)) {
    return false;
  }
  const bool aligned = alignment_.is_aligned(at);
  if (!aligned && (padded || (are_aligned_at(at) && !returned))) {
    return false;
  }
  return begins_as_functions_do(at);
}

bool CodeSweep::begins_as_functions_do(Address at) const {
  constexpr unsigned kEnough = 8;  // instructions
  if (arch_.linkage.stub_at(file_.at(at), at)) {
    return false;  // a slot of a linkage table
  }
  UnreadRegisters unread(arch_);
  for (unsigned i = 0; i < kEnough; ++i) {
    const auto instruction = decoder_->decode(file_.at(at), at);
    if (!instruction || instruction->padding || unread.are_read_by(*instruction)) {
      return false;
    }
    if (instruction->flow != Flow::next && !is_branch(*instruction)) {
      break;
    }
    at += instruction->size;
  }
  return true;
}

StartFeatures CodeSweep::features_at(Address at, const AddressRange& function) const {
  return arch_.code.features_at_start(file_.at(function.begin), at - function.begin);
}

bool CodeSweep::are_aligned_at(Address at) const {
  const FunctionAlignment::Share share = alignment_.around(at);
  return 2 * share.aligned > share.functions;
}

// Some linkers fill the gaps with zeros.
Address CodeSweep::behind_zeros(Address at, Address end) const {
  const Address step = arch_.code.function_alignment;
  const Address next = std::min(end, (at + step - 1) / step * step);
  const auto gap = file_.at(at).slice(0, next - at);
  const bool empty =
      gap && std::ranges::all_of(gap->bytes(), [](std::byte each) { return each == std::byte{0}; });
  return empty ? next : at;
}

Address CodeSweep::last_case_before(Address end) const {
  const auto next = std::ranges::lower_bound(cases_, end);
  return next == cases_.begin() ? 0 : *std::prev(next);
}

}  // namespace whocall
