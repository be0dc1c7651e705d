// Names of Objective-C's methods, which stripping leaves: from the tables of classes and categories
// that every object file hands to the runtime.
//
// Source of the format: libobjc/objc-private/module-abi-8.h of gcc, whose runtime GNUstep uses; it
// is the one that clang writes for -fobjc-runtime=gcc, too.
#pragma once

#include <optional>

#include "object/elf_file.h"
#include "symbols/table/name_list.h"

namespace whocall {

// "-[Account addTo:]", "+[Account open:with:]", "-[Account(Extra) extra:]": all methods of a file
// that has classes; a miss for other files.
std::optional<NameList> objc_methods(const ElfFile& file);

}  // namespace whocall
