// The calls by which functions hand their own names to whoever reports failures.
#pragma once

#include <string>
#include <vector>

#include "symbols/discovery/part_parents.h"
#include "symbols/inferred/inferred_name.h"

namespace whocall {

// One such call. Link addresses.
struct MessageCall {
  Address site = 0;
  Address start = 0;       // of the code around the call
  PartOwner owner;         // whose that code is
  std::string callee;      // "__assert_fail"; "sub_1136" where it has no name
  std::string text;        // the argument: an identifier or a signature
  bool in_header = false;  // the call also names a header as its place in the source
};

// The calls to functions one of whose arguments is the name of the caller. Which do, tell
//  - the names of well-known ones (of imports and symbols), or
//  - all their callers together: at least eight functions pass a text that may be a function's name
//    at one position, mostly each its own; beside it they pass the name of a source file; or
//  - their callers with known names, of which at least eight pass just those.
// Where callers with known names pass others too often, neither is believed.
std::vector<MessageCall> message_calls(const NameEvidence& evidence);

// Whether what stands at `text` may be a function's name or the path of a source file: a call that
// passes neither is none of the above.
bool is_part_of_message(const ElfFile& file, Address text);

}  // namespace whocall
