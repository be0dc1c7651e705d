// Which rule is believed about code that no file holds.
//
// Folklore. Situation: where functions begin in such code is a guess, and a rule that was followed
// from a wrong beginning is another function's. Example: .NET's compiler puts methods into one
// mapping with data between them; what was taken for one function held six, and the rule of the
// last lost rbp. Remedy: the way from the pc to the return tells the rule as well, and the chain of
// frame pointers tells the caller; no rule by a guessed start overrides both.
#pragma once

#include "unwind/strategy.h"

namespace whocall {

// Whether no file holds the code.
bool is_loose_code(Address pc, const ProcessImage& process);

// `by_start`: the rule that was followed from where the function seems to begin, or null. Null
// where the chain of frame pointers is to lead.
const UnwindRow* rule_in_loose_code(const UnwindRow* by_start, const Activation& callee,
                                    const WalkContext& context);

// Whether that hangs on the pc alone.
bool rule_hangs_on_pc(const UnwindRow* by_start, const Activation& callee,
                      const WalkContext& context);

}  // namespace whocall
