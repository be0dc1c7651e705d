// The rule for a place in the code: by the unwind tables that are loaded with its file, by rules
// that lie in files on disk, and what was found before.
#pragma once

#include "rules/frame_rule.h"
#include "runtime/modules.h"
#include "runtime/rule_cache.h"

namespace whocall::runtime {

// By return address.
RuleCache& known_rules();

// The file around an address. `thorough`: also one that the dynamic linker does not tell of.
bool find_file(std::uintptr_t address, bool thorough, Module& module);

// By the files on disk alone (see runtime/debug_files.h). `cfa` is none where they have none.
rules::FrameRule rule_ahead(const Module& module, std::uintptr_t lookup);

// `exact`: the code is at the address, and not before it. `cfa` is none where no rule covers it,
// and where an index of ARM's is to be asked first.
rules::FrameRule rule_at(std::uintptr_t address, bool exact, bool thorough);

// Forgets the rules that were found.
void forget_rules();

}  // namespace whocall::runtime
