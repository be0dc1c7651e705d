// Names of functions that a program took from static libraries, by files of signatures.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "object/elf_file.h"
#include "process/process_image.h"
#include "symbols/signatures/signature_index.h"
#include "symbols/table/name_list.h"

namespace whocall {

// The signatures in the file `path`, read once for as long as it stays the same. Throws Error.
std::shared_ptr<const SignatureIndex> open_signatures(const std::string& path);

// The functions that the signature files of `search` recognise in `file`; files for other
// instruction sets say nothing, and of two that disagree on a function neither does. `remark`
// receives a sentence on each file that cannot be used, and when all are for other
// instruction sets. Never throws.
std::optional<NameList> signature_names(const ElfFile& file, const FileSearch& search,
                                        std::string& remark);

}  // namespace whocall
