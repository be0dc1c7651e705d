// The only header that includes elfutils' own, and what keeps its handles.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "object/dwarf_library.h"

namespace whocall {

// One file with debug info. libdw takes one call at a time for it.
class OpenDwarf {
 public:
  // Throws Error.
  OpenDwarf(DebugInfoFile file, GuardMapping guard);

  [[nodiscard]] Dwarf* get() const { return dwarf_.get(); }

 private:
  struct ElfCloser {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  struct DwarfCloser {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
  };

  std::vector<std::byte> image_;
  std::unique_ptr<Elf, ElfCloser> elf_;
  std::shared_ptr<const void> guard_;  // of what libelf has mapped; ends before that
  std::unique_ptr<Dwarf, DwarfCloser> dwarf_;
};

// The string of an attribute, looked for in what the DIE stands for (DW_AT_abstract_origin,
// DW_AT_specification), too; null when there is none.
const char* string_of(Dwarf_Die& die, unsigned attribute);

// A number that is the DIE's own; 0 when there is none.
std::size_t number_of(Dwarf_Die& die, unsigned attribute);

// The next DIE beside `die`, which it replaces; false when there is none.
bool step_to_sibling(Dwarf_Die& die);

// Takes every DIE of a tree once, however damaged. In a good file a walk from parents to children
// meets them in the order of their bytes; where DW_AT_sibling leads into the midst of the children,
// each level would double the work.
class ForwardWalk {
 public:
  [[nodiscard]] bool takes(const Dwarf_Die& die) {
    const bool ahead = std::less<>()(last_, die.addr);
    last_ = ahead ? die.addr : last_;
    return ahead;
  }

 private:
  void* last_ = nullptr;
};

}  // namespace whocall
