// Weighs a caller that a strategy proposes: is it acceptable, and what speaks for it?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "process/process_image.h"
#include "unwind/backtrace.h"
#include "unwind/code/code_map.h"
#include "unwind/code/tail_calls.h"
#include "unwind/judge/start_frames.h"
#include "unwind/rows/activation.h"
#include "unwind/rows/apply_row.h"
#include "unwind/rows/chain_row.h"
#include "unwind/rows/row.h"

namespace whocall {

// Why a proposed caller was refused.
enum class Refusal : std::uint8_t {
  none,
  end_of_stack,  // not a failure: the return address is zero
  no_cfa,
  no_return_address,
  not_code,         // the return address does not point to code
  no_call_before,   // code, but no call instruction stands before it
  stack_unaligned,  // the stack pointer would not be a multiple of the word size
  stack_backwards,  // the stack pointer would not move towards the stack's base
  stack_elsewhere,  // the stack pointer would leave the thread's stack without a signal frame
  no_signal_frame,  // no kernel saved the registers that it leads to
  circle,           // the walk was there before
};

// How the call instruction before a return address relates to the function that was called.
enum class CallMatch : std::uint8_t {
  no_call,      // there is no call instruction
  unreadable,   // the code before the return address cannot be read
  unknown,      // a call, but its target cannot be told or the callee's start is not known
  same_module,  // a call into the callee's module, of whose functions nothing is known
  matches,      // it goes to the callee's start, directly or through jump stubs
  tail_call,    // it goes to a function that jumps on to the callee
  elsewhere,    // it goes to another function
};

// Whether the call led to the callee's function.
constexpr bool goes_to_callee(CallMatch call) {
  return call == CallMatch::matches || call == CallMatch::tail_call;
}

struct Judgement {
  Refusal refusal = Refusal::none;
  EvidenceSet evidence{};
  CallMatch call = CallMatch::unreadable;  // meaningful when the return address is code
  std::optional<Address> called{};         // where that call goes, as far as it can be told
  // Nobody called the caller: its address was put on the stack by hand, to be returned to.
  bool planted = false;
  // A rule leads down the mapping of the stack, not counting from the stack pointer: StackSwitches
  // knows whether that may be.
  bool steps_down = false;
  bool trampoline = false;       // the caller is the kernel's signal trampoline
  bool checked_context = false;  // the caller's registers are as the kernel saves them for a signal
  bool signal_frame = false;     // a signal came between the two, as far as can be told
};

// Accepts or refuses one caller. Who chooses among several: walk/walker.h by the order of the
// strategies, search/stack_search.h by points.
class Judge {
 public:
  Judge(const ProcessImage& process, CodeMap& code)
      : process_(process),
        code_(code),
        tail_calls_(process, code),
        chain_row_(*process.arch),
        start_frames_(process) {}

  // `proposal` comes from applying `row` to `callee`; unwind tables (trust cfi) and the kernel's
  // signal frames (trust context) are believed without a call before the return address, because
  // hand-written code and thread starts have none. All others need it.
  Judgement weigh(const Activation& callee, const UnwindRow& row, const AppliedRow& proposal,
                  Trust trust);

  CallMatch match_call(const Activation& callee, const Activation& caller);
  // The same, telling also where the call goes. Hangs on the two pcs alone.
  CallMatch match_call(const Activation& callee, const Activation& caller,
                       std::optional<Address>& called);

  // Where a call goes, through jump stubs; a miss where that cannot be told.
  [[nodiscard]] std::optional<Address> final_target(const CallSite& call) const;

  // Whether no jump leads from the function at `target`, called there, to that of `callee` (an
  // address to look up); false where that is not proven.
  bool cannot_lead(Address target, Address callee);

  // Whether the frame that ends at `to` (a CFA) lies on the stack that `from` points to; yes where
  // that cannot be told.
  [[nodiscard]] bool same_stack(std::optional<Address> from, Address to) const;

 private:
  // What was found lately: searches ask for the same pairs of pcs again and again.
  struct KnownCall {
    Address callee = 0;
    Address caller = 0;
    bool interrupted = false;
    CallMatch match = CallMatch::no_call;
    std::optional<Address> called{};
  };

  CallMatch find_call(const Activation& callee, Address caller, std::optional<Address>& called);
  CallMatch compare_call(const CallSite& call, Address target, const Activation& callee,
                         Address caller);
  [[nodiscard]] Refusal check_stack(const Activation& callee, const UnwindRow& row,
                                    const AppliedRow& proposal, Trust trust) const;
  [[nodiscard]] bool may_switch_stacks(const UnwindRow& row, Trust trust) const;
  [[nodiscard]] bool ends_here(const Activation& callee, Trust trust) const;
  [[nodiscard]] bool lies_in_file(Address code) const;
  [[nodiscard]] bool believes(const Activation& callee, bool planted, Trust trust) const;
  [[nodiscard]] bool credible_unseen(const Activation& callee, const AppliedRow& proposal,
                                     CallMatch call, Trust trust);
  [[nodiscard]] bool stands_in_page(const Activation& callee, const Activation& caller,
                                    Trust trust) const;
  [[nodiscard]] bool lies_on_stack(const Activation& callee, const Activation& caller) const;
  [[nodiscard]] bool was_planted(Address pc) const;
  void weigh_signal(const Activation& callee, const Activation& caller, Trust trust,
                    Judgement& result) const;
  void add_evidence(Judgement& result, const Activation& callee, const UnwindRow& row,
                    const AppliedRow& proposal, Trust trust);
  [[nodiscard]] bool frame_pointer_agrees(const Activation& callee,
                                          const AppliedRow& proposal) const;

  const ProcessImage& process_;
  CodeMap& code_;
  TailCalls tail_calls_;
  ChainRow chain_row_;
  StartFrames start_frames_;
  std::vector<KnownCall> known_calls_;  // by a hash, each in the place of another
};

}  // namespace whocall
