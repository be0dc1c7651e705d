// Which code of a program comes from static libraries: the proof.
//
// A section of a library is linked as one piece, so it is recognised as one: all bytes that the
// linker leaves alone and all constants that it refers to have to be there. Where that is much and
// nothing else fits, it is a proof. What is short or fits in several places is proved by others:
//   - a reference of a recognised section leads there by that name,
//   - its own references lead where the recognised ones say that those names lie,
//   - it fills the room between two neighbours that were recognised, without a byte to spare.
// A section whose references contradict the others' is none, and of two that cannot be told apart
// neither is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/address.h"
#include "object/elf_file.h"
#include "symbols/signatures/signature_index.h"

namespace whocall {

struct SignatureMatch {
  AddressRange range;  // link addresses; empty when the library does not tell the size
  SignatureText name = 0;
  std::uint32_t section = kNoSignature;  // none: known by references alone
};

// Functions of the libraries in `file`, ascending by address, one name for each.
std::vector<SignatureMatch> match_signatures(const ElfFile& file, const SignatureIndex& index);

}  // namespace whocall
