// Return addresses of which only the low bytes were overwritten.
//
// Folklore. Situation: a string was written one byte too far, and its terminator into the return
// address behind the buffer. Example: 0x7ff2e1ee7bf7 became 0x7ff2e1ee7b00, in the midst of a
// function of libc; unwind tables are believed without a call before the address, and what the
// table of that place says of the frame leads astray. Remedy: an exact rule says where the word
// lies, so all but its low bytes are true: where no call precedes it, and one single call in those
// 256 bytes (64 KiB) may have led to the function that is to return there, that call did.
#pragma once

#include <optional>

#include "unwind/judge/judge.h"
#include "unwind/strategy.h"

namespace whocall {

struct DamagedReturn {
  UnwindRow row;                // the exact rule; the return address is left to be given
  std::optional<Address> pc{};  // the true one (runtime), where one call alone may have led there
};

// The caller of `callee` where its return address was overwritten so; a miss where nothing shows
// that it was.
std::optional<DamagedReturn> find_damaged_return(const Activation& callee,
                                                 const WalkContext& context);

// Whether an exact rule, not that of a signal frame, leads to what cannot be a return address;
// `call` is what the judge found before it, `searched` whether `callee` rests on a search.
bool is_no_return_address(const Activation& callee, const AppliedRow& proposal, CallMatch call,
                          bool searched, const WalkContext& context);

}  // namespace whocall
