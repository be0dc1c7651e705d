// The code of one object file as signatures.
#pragma once

#include <string>
#include <unordered_map>

#include "object/elf_file.h"
#include "symbols/signatures/signature_set.h"

namespace whocall {

// Texts of a set, each kept once.
class SignatureTexts {
 public:
  explicit SignatureTexts(SignatureSet& set) : set_(set) {}
  SignatureText add(std::string_view text);

 private:
  SignatureSet& set_;
  std::unordered_map<std::string, SignatureText> known_{{std::string(), 0}};
};

// Appends the sections of code of `file`, an object file for `set.arch`. Returns the number of
// sections left out, because of relocations of types that we do not know.
std::uint32_t add_member(const ElfFile& file, SignatureMember member, SignatureTexts& texts,
                         SignatureSet& set);

}  // namespace whocall
