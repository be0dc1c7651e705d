// Which functions of a program FLIRT's modules are: the judge.
//
// IDA takes the first module that fits. That names the wrong function where one is short, or where
// a library has several that differ in what they call alone. Here a module is what stands there
// where its bytes are many and nothing else fits, or where others say so too:
//   - a reference of a recognised module leads there by that name,
//   - its own references lead to functions that have those names.
// A module one of whose references leads to a function of another name is none.
#pragma once

#include <string_view>
#include <vector>

#include "arch/abi.h"
#include "base/address.h"
#include "symbols/flirt/flirt_index.h"
#include "symbols/flirt/flirt_program.h"

namespace whocall {

struct FlirtMatch {
  AddressRange range;     // link addresses
  std::string_view name;  // lives as long as the index
};

// Whether files of the set's processor are of this instruction set, as far as the set says.
bool is_for(const FlirtSet& set, const Abi& abi);

// Ascending by address, one name for each.
std::vector<FlirtMatch> match_flirt(const FlirtProgram& program, const FlirtIndex& index);

}  // namespace whocall
