// Names that nobody wrote down as the names of functions, but that code and data prove.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"
#include "symbols/symbol.h"

namespace whocall {

struct InferredName {
  Address function = 0;  // link address of its start
  std::string name;      // as it is shown
  NameSource source = NameSource::none;
};

// Where a source looks; both outlive the call.
struct NameEvidence {
  const ElfFile& file;
  const Architecture& arch;
};

// A source appends what it is sure of, one name for a function. It never throws; on damage or where
// its proof has a gap, it says nothing: a wrong name is worse than none.
using InferNames = void (*)(const NameEvidence& evidence, std::vector<InferredName>& names);

// The names of one file, of all sources in the order of NameSource.
class InferredNames {
 public:
  explicit InferredNames(const NameEvidence& evidence);

  // Of the function that starts at `link`; null when it has none.
  [[nodiscard]] const InferredName* at(Address link) const;

 private:
  std::unordered_map<Address, InferredName> names_;
};

}  // namespace whocall
