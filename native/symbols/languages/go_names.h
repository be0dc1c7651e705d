// Names of Go programs, which stripping leaves: from the function table of the Go runtime.
#pragma once

#include <optional>
#include <string>

#include "object/elf_file.h"
#include "symbols/table/name_list.h"

namespace whocall {

// All functions of a Go program with their source lines; a miss for other files. `remark` receives
// a sentence when there is a table that cannot be used. The file must outlive the list.
std::optional<NameList> go_names(const ElfFile& file, std::string& remark);

}  // namespace whocall
