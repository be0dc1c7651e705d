// Holds a list of names against the file that it is said to be for: wrong names are worse than
// none.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "object/elf_file.h"
#include "symbols/discovery/function_starts.h"
#include "symbols/external/listed_names.h"
#include "symbols/table/name_list.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

// Where the list's addresses lie: link address = address in the list - base (modulo 2^64).
struct ListBase {
  Address base = 0;
  bool given = false;  // by the user
};

struct FittedList {
  std::optional<NameList> list;
  std::string remark;  // why there is none, a sentence; empty otherwise
};

// What is known of one file without the lists; made once, at the first of them.
class ListJudge {
 public:
  // `file` must outlive the judge.
  explicit ListJudge(const ElfFile& file);
  ListJudge(const ListJudge&) = delete;
  ListJudge& operator=(const ListJudge&) = delete;
  ~ListJudge();

  // A list gives its names when
  //   - its .text lies where the file has it (linker maps), as long as there,
  //   - what the file itself names has the same address in the list, for most names,
  //   - at least half of its names that lie in code stand where functions begin.
  // Else the remark says what is wrong, and which base would make it right if one would.
  // Of the names that are given, those outside code and those made from addresses are dropped, and
  // so are labels: names without a size inside what an unwind table delimits. A name without a size
  // ends where anything is known to begin. `path` is the list's, for remarks.
  FittedList fit(ListedNames names, ListBase base, const std::string& path) const;

 private:
  class Fit;

  const ElfFile& file_;
  std::vector<AddressRange> code_;  // sorted, disjoint
  std::vector<AddressRange> fdes_;  // sorted by start
  std::shared_ptr<const SymbolTable> table_;
  std::unique_ptr<FunctionStarts> starts_;  // null for an instruction set that we do not know
  std::vector<Address> known_;              // where functions begin, ascending
};

}  // namespace whocall
