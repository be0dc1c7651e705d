// The rule for a place in the code: by the unwind tables of its file, and what was found before.
#pragma once

#include "rules/frame_rule.h"
#include "runtime/modules.h"
#include "runtime/rule_cache.h"

namespace whocall::runtime {

// By return address.
RuleCache& known_rules();

// The file around an address. `thorough`: also one that the dynamic linker does not tell of.
bool find_file(std::uintptr_t address, bool thorough, Module& module);

// `exact`: the code is at the address, and not before it. `cfa` is none where no table covers it.
rules::FrameRule rule_at(std::uintptr_t address, bool exact, bool thorough);

// Forgets the rules that were found.
void forget_rules();

}  // namespace whocall::runtime
