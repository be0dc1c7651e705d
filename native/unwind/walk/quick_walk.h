// Steps of a walk that facts are known for: a few loads and comparisons each, with the frames and
// the evidence that the full walk would give. Whatever is unusual is left to that.
//
// On the way only pc, stack pointer and frame pointer are kept; the other registers are looked for
// where the steps saved them, when somebody asks.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "process/process_image.h"
#include "unwind/backtrace.h"
#include "unwind/rows/activation.h"
#include "unwind/walk/step_facts.h"

namespace whocall {

class QuickWalk {
 public:
  // `frames` are the walk's; steps add to them. `searches`: the walk may search the stack.
  QuickWalk(const ProcessImage& process, const StepFacts& facts, bool searches,
            std::vector<Frame>& frames);

  // The last of the frames is `activation`'s, which is to stay until the next begin(). `planted`:
  // nobody called it, see Judgement.
  void begin(const Activation& activation, bool planted);
  void begin(Activation&&, bool) = delete;
  // Adds the callers of the last frame one after the other; false when one is not for this class
  // to say, before there are `most` of them. `tables_only`: no strategy but unwind tables may be
  // asked any more.
  bool go_on(bool tables_only, std::size_t most);
  // Whether nobody called the last frame, whose CFA is noted then; `stop` says why.
  bool ends_here(bool tables_only, Stop& stop);
  // Whether no step was made since begin().
  [[nodiscard]] bool at_start() const { return frames_.size() == first_; }
  // Of the last frame, with all registers that are known there.
  [[nodiscard]] Activation activation() const;

 private:
  [[nodiscard]] CodePoint point() const { return {here_.pc, start_->interrupted && at_start()}; }
  // Adds the caller of the last frame; false where go_on() ends.
  bool step(bool tables_only);
  // What may be believed of the present frame; null where there is nothing.
  [[nodiscard]] const StepFact* fact(bool tables_only) const;
  [[nodiscard]] bool enter_stack();
  [[nodiscard]] bool chain_goes_on(CallMatch call) const;
  // Whether the chain of frames leads to `caller` as well; a miss where it leads elsewhere from the
  // same frame.
  [[nodiscard]] std::optional<bool> chain_agrees(const rules::CompactRule& rule, Address cfa,
                                                 const rules::StackPoint& caller) const;
  [[nodiscard]] std::optional<Address> word_at(Address address) const;
  [[nodiscard]] bool stays_on_stack(Address to) const;
  void restore_saved(Registers& registers) const;
  void restore_mode(Registers& registers) const;

  const ProcessImage& process_;
  const StepFacts& facts_;
  bool searches_;
  Address word_mask_ = 0;  // bits that no address of a word has
  std::vector<Frame>& frames_;
  const Activation* start_ = nullptr;  // where the quick steps began
  std::size_t first_ = 0;              // how many frames there were then
  bool planted_ = false;               // the start
  rules::StackPoint here_;             // the last frame
  rules::StackSpan span_;              // of the stack, where here_.sp lies
  AddressRange stack_;                 // and its mapping
};

}  // namespace whocall
