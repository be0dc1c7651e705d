// Names of functions that a program took from static libraries, or has in common with another build
// of it, by files of signatures: our own and FLIRT's.
#pragma once

#include <optional>

#include "object/elf_file.h"
#include "process/process_image.h"
#include "symbols/table/companion.h"

namespace whocall {

// The functions that the signature files of `search` recognise in `file`; files for other
// instruction sets say nothing, and of two that disagree on a function neither does. What `others`
// name needs no other build; their remark receives a sentence on each file that cannot be used, and
// when all are for other instruction sets. Never throws.
std::optional<NameList> signature_names(const ElfFile& file, const FileSearch& search,
                                        Companions& others);

}  // namespace whocall
