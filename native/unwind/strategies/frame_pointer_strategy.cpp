// The chain of frames, by frame pointers or back chains: the oldest "Who Call Me" of all.
#include <algorithm>

#include "unwind/judge/judge.h"
#include "unwind/judge/sentences.h"
#include "unwind/rows/apply_row.h"
#include "unwind/rows/chain_row.h"
#include "unwind/search/damaged_return.h"
#include "unwind/search/stack_search.h"
#include "unwind/strategies/strategies.h"

namespace whocall {
namespace {

class FramePointerStrategy final : public Strategy {
 public:
  explicit FramePointerStrategy(const Architecture& arch)
      : arch_(arch), row_(arch), to_other_stack_(*row_.get()) {
    to_other_stack_.new_stack = true;
  }

  [[nodiscard]] std::string_view name() const override { return "frame-pointer"; }
  [[nodiscard]] Trust trust() const override { return Trust::frame_pointer; }

  // A frame pointer below the stack pointer, or far from it, is an ordinary register's value.
  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    const auto fp = callee.registers.get(arch_.frame.chain->base);
    const auto sp = callee.registers.get(arch_.registers.sp);
    if (!fp || !sp || *fp % arch_.registers.size != 0 ||
        (context.may_search && find_damaged_return(callee, context))) {
      return nullptr;
    }
    if (context.process.mapping_at(*fp) != context.process.mapping_at(*sp)) {
      return was_called_there(callee, context) ? &to_other_stack_ : nullptr;
    }
    return *fp >= *sp && !passes_over_callers(callee, context) ? row_.get() : nullptr;
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& row,
                                    const WalkContext& context) const override {
    return why_no_table(callee, context) + ", and the frame pointer's chain" +
           (row.new_stack ? ", which goes on on another stack," : "");
  }

  [[nodiscard]] std::string remedy() const override {
    return "A file of that module with unwind tables would make it surer";
  }

 private:
  static constexpr int kMostHidden = 8;  // frames whose code is not at hand, one above the other

  // Folklore. Situation: the frame below has no rule, and the functions around it use no frame
  // pointer; the register still holds that of a function far up. Example: a return address was
  // overwritten in a program built with -fomit-frame-pointer; %rbp is that of the C library's
  // start, and the chain would pass over all of the program. Remedy: where a caller nearer than the
  // link is sure, and the link's call is not known to go to the frame below, the link is not
  // believed; nor where what is sure stands above callers whose code is missing too.
  bool passes_over_callers(const Activation& callee, const WalkContext& context) const {
    const auto link = apply_row(*row_.get(), callee, arch_, *context.process.memory);
    if (!context.may_search || link.failure != ApplyFailure::none ||
        calls(link.caller, callee, context)) {
      return false;
    }
    const auto words = saved_words(*row_.get(), callee, link.cfa, arch_, *context.process.memory);
    const auto link_slot = std::ranges::find(words, arch_.registers.pc, &SavedWord::number);
    const auto end = link_slot == words.end() ? link.cfa : link_slot->address;
    Activation from = callee;
    auto nearer = search_stack(from, end, context);
    for (int hidden = 0; nearer && nearer->unseen && hidden < kMostHidden; ++hidden) {
      from = apply_row(nearer->row, from, arch_, *context.process.memory).caller;
      nearer = search_stack(from, end, context);
    }
    return nearer && nearer->sure;
  }

  // Folklore. Situation: a function sets up its frame and moves the stack pointer to another stack
  // before it calls. Example: SBCL's call_into_lisp: push %rbp; mov %rsp,%rbp; mov 0xb8(%rax),%rsp;
  // the frames of Lisp lead back to it, and %rbp to the stack that the program was started on.
  // Remedy: a frame pointer on another stack is believed when the call before its return address
  // goes to this very function; a leftover of some other call does not.
  bool was_called_there(const Activation& callee, const WalkContext& context) const {
    const auto link = apply_row(*row_.get(), callee, arch_, *context.process.memory);
    return link.failure == ApplyFailure::none && calls(link.caller, callee, context);
  }

  // Whether `caller` returns from a call that went to the function of `callee`.
  static bool calls(const Activation& caller, const Activation& callee,
                    const WalkContext& context) {
    return goes_to_callee(context.judge.match_call(callee, caller));
  }

  const Architecture& arch_;
  ChainRow row_;
  UnwindRow to_other_stack_;
};

}  // namespace

std::unique_ptr<Strategy> make_frame_pointer_strategy(const Architecture& arch) {
  return arch.frame.chain ? std::make_unique<FramePointerStrategy>(arch) : nullptr;
}

}  // namespace whocall
