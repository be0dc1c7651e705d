#include "runtime/code_rule.h"

#include <algorithm>
#include <array>

namespace whocall::runtime {
namespace {

using rules::FrameRule;
using Flow = CodeStep::Flow;
using Pointer = CodeStep::Pointer;

constexpr std::uintptr_t kLongestCode = 0x8000;  // bytes of a function that are looked at
constexpr std::uintptr_t kCodeBehind = 0x1000;   // bytes of them behind the place: for loops
constexpr std::uintptr_t kFunctionAlignment = 16;
constexpr unsigned kPasses = 4;         // more than loops in loops need
constexpr unsigned kMostSteps = 60000;  // instructions over all passes
constexpr std::size_t kMostTargets = 128;

// The frame at a place, in few bytes: stacks for signals are small. Depths and slots are words from
// the CFA downwards.
struct CodeFrame {
  enum class Saved : std::uint8_t { not_yet, stored, lost };

  std::int16_t sp_depth = 0;
  std::int16_t fp_depth = 0;
  std::int16_t fp_slot = 0;
  std::int16_t link_slot = 0;
  bool is_reached = false;
  bool has_sp = false;   // sp_depth is known
  bool has_fp = false;   // the frame pointer is one, and fp_depth is known
  bool is_sure = false;  // no call stands before it on a way from the beginning, or from a jump
  Saved fp = Saved::not_yet;
  Saved link = Saved::not_yet;
};

struct CodeTarget {
  std::uint16_t offset = 0;  // from the function's first byte
  std::uint8_t pass = 0;     // that told it last
  CodeFrame frame{};
};

class Follower {
 public:
  explicit Follower(const CodeAround& around)
      : around_(around), word_(around.word), end_(around.begin + kLongestCode) {}

  FrameRule rule() {
    if (around_.place < around_.begin ||
        around_.place - around_.begin >= kLongestCode - kCodeBehind) {
      return {};
    }
    end_ = around_.place + kCodeBehind;
    if (around_.end != 0) {
      end_ = std::clamp(around_.end, around_.place, end_);
    }
    if (!settle(false) || (!found_.is_reached && (!may_guess() || !settle(true)))) {
      return {};
    }
    return is_contradicted_ || !agrees_with_choices() ? FrameRule{} : rule_of(found_);
  }

 private:
  // Passes, until one more tells nothing new: what is known of a jump's target may come from a call
  // that does not return. False where there is no end to it.
  bool settle(bool guesses) {
    for (unsigned i = 0; i < kPasses && !is_given_up_; ++i) {
      const std::uint64_t before = sum();
      ++pass_;
      found_ = {};
      is_contradicted_ = false;
      choices_ = Choices::none;
      follow(guesses);
      if (sum() == before) {
        return !is_given_up_;
      }
    }
    return false;
  }

  // A place that nothing is known to reach is one that the only jump by a table leads to.
  [[nodiscard]] bool may_guess() const {
    return around_.end != 0 && !is_contradicted_ && choices_ == Choices::one && !is_empty(chosen_);
  }

  [[nodiscard]] bool agrees_with_choices() const {
    return choices_ == Choices::none || found_.is_sure ||
           (choices_ == Choices::one && !is_empty(chosen_) &&
            (!found_.has_sp || found_.sp_depth == chosen_.sp_depth));
  }

  // Of all that is known of targets.
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t hash = count_ + 1;
    for (const auto* each = targets_.data(); each != targets_.data() + count_; ++each) {
      const CodeFrame& frame = each->frame;
      for (const int part :
           {int{each->offset}, int{frame.sp_depth}, int{frame.fp_depth}, int{frame.fp_slot},
            int{frame.link_slot}, int{frame.has_sp}, int{frame.has_fp}, int{frame.is_sure},
            static_cast<int>(frame.fp), static_cast<int>(frame.link)}) {
        hash = (hash ^ static_cast<std::uint32_t>(part)) * 0x100000001b3U;  // FNV-1a
      }
    }
    return hash;
  }

  // One pass over the code, in the order of its addresses.
  void follow(bool guesses) {
    // Where calls push the return address, that word is the frame.
    CodeFrame frame{.sp_depth = empty_depth(), .is_reached = true, .has_sp = true, .is_sure = true};
    bool is_behind_call = false;
    bool is_behind_place = false;  // what runs here has come by the place
    for (std::uintptr_t at = around_.begin; at < end_ && !is_given_up_;) {
      is_behind_place = at == around_.place || (is_behind_place && frame.is_reached);
      arrive(at, is_behind_call, frame);
      if (!frame.is_reached && guesses) {
        frame = chosen_;
      }
      if (around_.exact && at == around_.place) {
        found_ = frame;
      }
      CodeStep step = step_at(at);
      with_number(step);
      if (step.size == 0) {
        is_given_up_ = is_given_up_ || at <= around_.place;  // what is behind it cannot be read
        return;
      }
      take(step, frame);
      // Behind the place, and where nobody knows the function's end, it may be another function's.
      const bool is_own = around_.end != 0 || at < around_.place || is_behind_place;
      is_contradicted_ = is_contradicted_ || (is_own && step.flow == Flow::ret &&
                                              frame.is_reached && frame.has_sp && !is_empty(frame));
      at += step.size;
      const bool is_filled = is_behind_call && step.is_padding;
      is_behind_call = step.flow == Flow::call || is_filled;
      if (!around_.exact && at == around_.place && step.flow == Flow::call) {
        found_ = frame;
      }
      leave(at, step, frame);
      // What calls a function that does not return is followed by another function.
      if (is_filled && at % kFunctionAlignment == 0 && !guesses) {
        frame = {};
      }
    }
  }

  CodeStep step_at(std::uintptr_t at) {
    if (++steps_ > kMostSteps) {
      is_given_up_ = true;
      return {};
    }
    const std::size_t size = around_.readable(around_.reader, at, kLongestStep);
    return around_.step(reinterpret_cast<const std::uint8_t*>(at), size, at);
  }

  // Large frames: the number stands in a register, put there by one of the instructions before.
  void with_number(CodeStep& step) {
    using Number = CodeStep::Number;
    if (step.number == Number::none) {
      number_register_ = kNoRegister;
    } else if (step.number == Number::put) {
      number_register_ = step.number_register;
      number_ = step.number_value;
    } else if (step.number_register != number_register_ || number_ < 0) {
      step.sp = step.number == Number::moves_sp ? Pointer::lost : step.sp;
    } else if (step.number == Number::added) {
      number_ |= step.number_value;
    } else if (step.number == Number::moves_sp) {
      step.sp_offset *= number_;
    }
  }

  // What jumps to a place has brought there counts; what falls through from a call that maybe does
  // not return counts less.
  void arrive(std::uintptr_t at, bool is_behind_call, CodeFrame& frame) {
    auto* const end = targets_.data() + count_;
    auto* const known = std::find_if(targets_.data(), end, [&](const CodeTarget& each) {
      return around_.begin + each.offset == at;
    });
    if (known != end) {
      const bool counts_alone = !frame.is_reached || is_behind_call;
      frame = counts_alone ? known->frame : met(frame, known->frame);
    }
  }

  // Where calls push the return address, that word is the frame.
  [[nodiscard]] std::int16_t empty_depth() const { return around_.has_link ? 0 : 1; }

  // As at the function's beginning: what jumps leaves the function.
  [[nodiscard]] bool is_empty(const CodeFrame& frame) const {
    return frame.has_sp && frame.sp_depth == empty_depth();
  }

  CodeFrame met(const CodeFrame& one, const CodeFrame& other) {
    const bool differ = one.has_sp && other.has_sp && one.sp_depth != other.sp_depth;
    is_contradicted_ = is_contradicted_ || differ;
    return merged(one, other);
  }

  static CodeFrame merged(const CodeFrame& one, const CodeFrame& other) {
    CodeFrame both = one;
    both.has_sp = one.has_sp && other.has_sp && one.sp_depth == other.sp_depth;
    both.is_sure = one.is_sure || other.is_sure;
    both.has_fp = one.has_fp && other.has_fp && one.fp_depth == other.fp_depth;
    both.fp = one.fp == other.fp && one.fp_slot == other.fp_slot ? one.fp : CodeFrame::Saved::lost;
    both.link = one.link == other.link && one.link_slot == other.link_slot ? one.link
                                                                           : CodeFrame::Saved::lost;
    return both;
  }

  // Words from the CFA down to `bytes` above the stack pointer. False: it is not known, or no word.
  bool place_of(const CodeFrame& frame, std::int32_t bytes, std::int16_t& depth) const {
    const std::int32_t words = frame.sp_depth - bytes / word_;
    depth = static_cast<std::int16_t>(words);
    return frame.has_sp && bytes % word_ == 0 && depth == words;
  }

  void take(const CodeStep& step, CodeFrame& frame) const {
    if (!frame.is_reached) {
      return;
    }
    const CodeFrame before = frame;
    if (step.sp == Pointer::lost) {
      frame.has_sp = false;
    } else if (step.sp == Pointer::from_sp) {
      frame.has_sp = place_of(before, step.sp_offset, frame.sp_depth);
    } else if (step.sp == Pointer::from_fp) {
      const CodeFrame from{.sp_depth = before.fp_depth, .has_sp = before.has_fp};
      frame.has_sp = place_of(from, step.sp_offset, frame.sp_depth);
    }
    keep(step.saves_fp, step.restores_fp, step.fp_place, frame, frame.fp, frame.fp_slot);
    keep(step.saves_link, step.restores_link, step.link_place, frame, frame.link, frame.link_slot);
    if (step.fp == Pointer::from_sp) {
      frame.has_fp = place_of(frame, step.fp_offset, frame.fp_depth);
    } else if (step.fp != Pointer::same || step.restores_fp) {
      frame.has_fp = false;
    }
    if (step.fp != Pointer::same && frame.fp == CodeFrame::Saved::not_yet) {
      frame.fp = CodeFrame::Saved::lost;
    }
    frame.is_sure = frame.is_sure && step.flow != Flow::call;
    if (frame.fp == CodeFrame::Saved::stored && frame.has_sp && frame.sp_depth < frame.fp_slot) {
      frame.fp = CodeFrame::Saved::lost;  // its place is none any more
    }
    if (step.flow == Flow::call && around_.has_link && frame.link == CodeFrame::Saved::not_yet) {
      frame.link = CodeFrame::Saved::lost;
    }
  }

  // Where a register of the caller's lies now.
  void keep(bool saves, bool restores, std::int32_t place, const CodeFrame& frame,
            CodeFrame::Saved& saved, std::int16_t& slot) const {
    std::int16_t found = 0;
    if (saves && saved == CodeFrame::Saved::not_yet) {
      saved = place_of(frame, place, found) ? CodeFrame::Saved::stored : CodeFrame::Saved::lost;
      slot = found;
    } else if (restores && saved == CodeFrame::Saved::stored) {
      const bool is_its_own = place_of(frame, place, found) && found == slot;
      saved = is_its_own ? CodeFrame::Saved::not_yet : saved;
      slot = is_its_own ? std::int16_t{0} : slot;
    }
  }

  void leave(std::uintptr_t at, const CodeStep& step, CodeFrame& frame) {
    const bool jumps = step.flow == Flow::branch || step.flow == Flow::jump;
    if (jumps && frame.is_reached && step.target >= around_.begin && step.target < end_) {
      note(at, static_cast<std::uint16_t>(step.target - around_.begin), frame);
    }
    if (step.flow == Flow::jump && step.target == 0 && frame.is_reached &&
        !(step.is_tail_call && is_empty(frame))) {
      choose(frame);
    }
    if (step.flow == Flow::jump || step.flow == Flow::ret || step.flow == Flow::end) {
      frame = {};
    }
  }

  // A jump to one of several places, or a tail call.
  void choose(const CodeFrame& frame) {
    const bool is_same = choices_ == Choices::one && frame.has_sp == chosen_.has_sp &&
                         frame.sp_depth == chosen_.sp_depth;
    choices_ = choices_ == Choices::none || is_same ? Choices::one : Choices::several;
    chosen_ = frame;
    chosen_.is_sure = false;
  }

  void note(std::uintptr_t at, std::uint16_t offset, const CodeFrame& frame) {
    auto* const end = targets_.data() + count_;
    auto* const known = std::find_if(
        targets_.data(), end, [offset](const CodeTarget& each) { return each.offset == offset; });
    if (known == end) {
      if (count_ != kMostTargets) {
        targets_[count_++] = {offset, pass_, frame};
      } else {
        is_given_up_ = is_given_up_ || at <= around_.place;
      }
      return;
    }
    known->frame = known->pass == pass_ ? met(known->frame, frame) : frame;
    known->pass = pass_;
  }

  [[nodiscard]] FrameRule rule_of(const CodeFrame& frame) const {
    FrameRule rule{.by_analysis = true};
    const bool is_linked = around_.has_link && frame.link == CodeFrame::Saved::not_yet;
    if (!frame.is_reached || (!frame.has_sp && !frame.has_fp) ||
        (around_.has_link && frame.link == CodeFrame::Saved::lost) ||
        (is_linked && !around_.exact)) {
      return {};
    }
    if ((frame.has_sp ? frame.sp_depth : frame.fp_depth) < (around_.has_link ? 0 : 1)) {
      return {};  // above where it began
    }
    rule.cfa = frame.has_sp ? FrameRule::Cfa::from_sp : FrameRule::Cfa::from_fp;
    rule.cfa_offset = word_ * (frame.has_sp ? frame.sp_depth : frame.fp_depth);
    rule.ret = is_linked ? FrameRule::Return::in_link : FrameRule::Return::stored;
    rule.return_slot = is_linked ? 0 : -word_ * (around_.has_link ? frame.link_slot : 1);
    rule.fp = frame.fp == CodeFrame::Saved::lost     ? FrameRule::Fp::lost
              : frame.fp == CodeFrame::Saved::stored ? FrameRule::Fp::stored
                                                     : FrameRule::Fp::same;
    rule.fp_slot = frame.fp == CodeFrame::Saved::stored ? -word_ * frame.fp_slot : 0;
    return rule;
  }

  const CodeAround& around_;
  std::int32_t word_;
  std::uintptr_t end_;
  CodeFrame found_{};
  std::array<CodeTarget, kMostTargets> targets_{};
  std::size_t count_ = 0;
  unsigned steps_ = 0;
  std::uint8_t pass_ = 0;
  static constexpr std::uint8_t kNoRegister = 0xff;
  std::uint8_t number_register_ = kNoRegister;  // that holds a number
  std::int32_t number_ = 0;
  bool is_given_up_ = false;
  bool is_contradicted_ = false;
  enum class Choices : std::uint8_t { none, one, several };  // frames at jumps that choose
  Choices choices_ = Choices::none;
  CodeFrame chosen_{};
};

}  // namespace

rules::FrameRule rule_by_code(const CodeAround& around) { return Follower(around).rule(); }

}  // namespace whocall::runtime
