// The functions of one linked file as signatures.
#pragma once

#include <memory>

#include "object/elf_file.h"
#include "symbols/signatures/signature_member.h"
#include "symbols/signatures/signature_set.h"

namespace whocall {

// Appends the functions of `file`, a linked program or library for `set.arch`, by the names in it
// and in its separate debug file `debug`, which may be null. Returns how many have names; where
// none has, nothing is appended.
std::size_t add_build(const std::shared_ptr<const ElfFile>& file,
                      const std::shared_ptr<const ElfFile>& debug, SignatureTexts& texts,
                      SignatureSet& set);

}  // namespace whocall
