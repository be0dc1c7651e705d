// Whether a .debug_frame is of other code than its file's.
//
// Folklore. Situation: a tool rewrites a program's code, and leaves a section alone that nothing
// loads; or the section is another build's. Example: of twenty-two frames the rows of a
// .debug_frame that is sixteen bytes off led to twelve. Remedy: the symbols know where functions
// begin and end. Where too many entries cut functions, the table is not believed; entries of all
// parts of a function do not.
#pragma once

#include <vector>

#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

// `ranges`: of the table's entries, link addresses. False as well where the file has no symbols to
// tell by.
bool is_stale(const std::vector<AddressRange>& ranges, const ElfFile& file);

}  // namespace whocall
