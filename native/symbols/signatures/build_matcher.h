// The functions that a program has in common with another build of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "object/elf_file.h"
#include "symbols/signatures/linked_code.h"
#include "symbols/signatures/signature_set.h"
#include "symbols/table/companion.h"

namespace whocall {

struct BuildMatch {
  AddressRange range;  // link addresses; empty where only the start is proved
  SignatureText name = 0;
  std::string proof;  // what shows it, and of which build: to be said behind "by"
};

class BuildMatcher {
 public:
  // Both outlive the object. Reads nothing yet.
  BuildMatcher(const ElfFile& file, const Companions& companions)
      : file_(file), companions_(companions) {}

  // Functions of the file that it has no name for, and that `build` of `set`, which is for the same
  // instruction set, knows; ascending. Nothing for another library.
  std::vector<BuildMatch> match(const SignatureSet& set, const SignatureBuild& build);

 private:
  void read(const Architecture& arch);
  [[nodiscard]] bool is_another(std::string_view soname);

  const ElfFile& file_;
  const Companions& companions_;
  std::shared_ptr<const SymbolTable> table_;  // null until read()
  LinkedCode code_;
  std::vector<std::string_view> names_;  // of its functions; empty where the file has none
  std::optional<std::string> soname_;
};

}  // namespace whocall
