// What one compilation unit tells of its code: source lines, functions, inlined calls.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "object/dw/die_ranges.h"
#include "object/dw/file_names.h"
#include "object/dw/libdw.h"
#include "object/source_line.h"

namespace whocall {

// Reads its line table and lists its functions when it is first asked; of a split unit it opens the
// .dwo file then.
class Unit {
 public:
  Unit(Dwarf_CU* unit, bool takes_zero) : unit_(unit), takes_zero_(takes_zero) {}

  // See LineTable::lines_at.
  [[nodiscard]] std::vector<SourceLine> lines_at(Address address);

 private:
  struct Functions {
    std::vector<Dwarf_Die> dies;
    DieRanges ranges;  // owners are indices of dies
  };
  struct Position {
    const char* file = nullptr;  // as libdw joins it
    int line = 0;
  };

  void read();
  [[nodiscard]] std::optional<Position> position_at(Address address) const;
  Dwarf_Die* function_at(Address address);  // null where no function is known
  // Those of the unit; `deep`: those inside functions and types as well.
  Functions list_functions(bool deep);

  Dwarf_CU* unit_;
  bool takes_zero_;
  bool is_read_ = false;
  Dwarf_Lines* lines_ = nullptr;
  std::size_t line_count_ = 0;
  Dwarf_Die tree_ = {};                 // the unit's DIE, of the .dwo file if there is one
  std::optional<FileNames> files_;      // of the line table
  std::optional<FileNames> called_;     // that DW_AT_call_file counts
  std::optional<Functions> functions_;  // a miss until one is asked for
  bool listed_deep_ = false;
};

}  // namespace whocall
