// Names that nobody wrote down as the names of functions, but that code and data prove.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"
#include "process/process_image.h"
#include "symbols/function_starts.h"
#include "symbols/symbol_table.h"

namespace whocall {

struct InferredName {
  Address function = 0;  // link address of its start
  std::string name;      // as it is shown
  NameSource source = NameSource::none;
  std::string proof{};  // what shows it, to be said behind "by"; empty where the source says all
};

// Where a source looks; all of it outlives the call.
struct NameEvidence {
  const ElfFile& file;
  const Architecture& arch;
  const SymbolTable& table;
  const FileSearch& search;
  std::function<const FunctionStarts&()> starts;  // costs a look at all code when first asked
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
  // Sorted by function, one for each.
  [[nodiscard]] std::span<const InferredName> all() const { return names_; }

 private:
  std::vector<InferredName> names_;
};

// The same look-up for who asks at ascending addresses.
class InferredNameCursor {
 public:
  // The names must outlive it.
  explicit InferredNameCursor(const InferredNames& names) : rest_(names.all()) {}

  const InferredName* at(Address link) {
    while (!rest_.empty() && rest_.front().function < link) {
      rest_ = rest_.subspan(1);
    }
    return !rest_.empty() && rest_.front().function == link ? rest_.data() : nullptr;
  }

 private:
  std::span<const InferredName> rest_;
};

}  // namespace whocall
