// What a walk says of itself: how a frame was found, and why it went no further.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unwind/judge/judge.h"
#include "unwind/rows/activation.h"
#include "unwind/rows/apply_row.h"
#include "unwind/strategy.h"

namespace whocall {

// What speaks against a caller before whose address a call stands.
enum class CallDoubt : std::uint8_t {
  none,
  some,       // that call is not known to lead to the callee
  grave,      // nor does a frame lie there: the address is likelier one put there by hand
  disproved,  // it cannot have led there: the address was put on the stack by hand
};

// One strategy's proposal for a caller.
struct Attempt {
  Strategy* strategy = nullptr;
  const UnwindRow* row = nullptr;
  AppliedRow proposal;
  Judgement judgement;
  CallDoubt doubt = CallDoubt::none;
};

// Stop details.
inline constexpr std::string_view kZeroReturnAddress = "its return address is zero";
// Of an attempt that was judged to be the end of the stack.
std::string end_detail(const Attempt& attempt);
// Of a callee for which all strategies were `refused`.
std::string no_caller_detail(const Activation& callee, const std::vector<Attempt>& refused,
                             const WalkContext& context);

// Why no unwind table led on from `callee`, for strategies that stand in for tables: "no unwind
// table covers the frame below".
std::string why_no_table(const Activation& callee, const WalkContext& context);

// How the caller of the last frame of `context` was found, after some were `refused`; null: it is
// the first frame. "the .eh_frame row of /x/libc.so.6 (CFA rsp+16, return address c-8) leads to it;
// a call to the frame below stands before the return address."
std::string explain(const Attempt* found_by, const std::vector<Attempt>& refused,
                    const WalkContext& context);

}  // namespace whocall
