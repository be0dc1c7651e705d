#include "object/dw/unit.h"

#include <utility>

#include "base/interrupt.h"
#include "object/dw/inlined_calls.h"

namespace whocall {
namespace {

constexpr unsigned kMostNested = 64;  // namespaces and types; damaged files may have any number

Address address_of(Dwarf_Lines* lines, std::size_t index) {
  Dwarf_Addr address = 0;
  dwarf_lineaddr(dwarf_onesrcline(lines, index), &address);
  return address;
}

bool is_statement(Dwarf_Line* line) {
  bool flag = false;
  return dwarf_linebeginstatement(line, &flag) == 0 && flag;
}

bool ends_sequence(Dwarf_Line* line) {
  bool flag = false;
  return dwarf_lineendsequence(line, &flag) != 0 || flag;
}

}  // namespace

void Unit::read() {
  Dwarf_Half version = 0;
  std::uint8_t type = 0;
  Dwarf_Die unit = {};
  Dwarf_Die split = {};
  check_interrupt();
  if (std::exchange(is_read_, true) ||
      dwarf_cu_info(unit_, &version, &type, &unit, &split, nullptr, nullptr, nullptr) != 0) {
    return;
  }
  if (dwarf_getsrclines(&unit, &lines_, &line_count_) != 0) {
    lines_ = nullptr;
    line_count_ = 0;
  }
  const bool is_split = type == DW_UT_skeleton && split.addr != nullptr;
  tree_ = is_split ? split : unit;
  const auto names_of = [&](Dwarf_Die& die) {
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    const bool present = dwarf_getsrcfiles(&die, &files, &count) == 0;
    return FileNames(tree_, version, present ? files : nullptr, present ? count : 0);
  };
  files_.emplace(names_of(unit));
  called_.emplace(is_split ? names_of(split) : *files_);
}

// The last row of the table at or below the address. Of several at one address gdb takes the last
// too, but rather one where a statement begins (best_entry in its find_pc_sect_line).
std::optional<Unit::Position> Unit::position_at(Address address) const {
  std::size_t low = 0;
  std::size_t high = line_count_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    (address_of(lines_, middle) <= address ? low : high) =
        address_of(lines_, middle) <= address ? middle + 1 : middle;
  }
  if (low == 0) {
    return std::nullopt;
  }
  std::size_t best = low - 1;
  Dwarf_Line* row = dwarf_onesrcline(lines_, best);
  if (ends_sequence(row)) {
    return std::nullopt;
  }
  const Address begin = address_of(lines_, best);
  while (!is_statement(row) && best > 0 && address_of(lines_, best - 1) == begin &&
         is_statement(dwarf_onesrcline(lines_, best - 1))) {
    row = dwarf_onesrcline(lines_, --best);
  }
  Position position;
  position.file = dwarf_linesrc(row, nullptr, nullptr);
  const bool known = dwarf_lineno(row, &position.line) == 0 && position.line > 0;
  return known && position.file != nullptr ? std::optional(position) : std::nullopt;
}

Unit::Functions Unit::list_functions(bool deep) {
  Functions listed{.dies = {}, .ranges = DieRanges(takes_zero_)};
  ForwardWalk walk;
  std::size_t turn = 0;
  const auto list = [&](auto& self, Dwarf_Die& scope, unsigned depth) -> void {
    Dwarf_Die child;
    if (depth >= kMostNested || dwarf_child(&scope, &child) != 0) {
      return;
    }
    do {
      if (!walk.takes(child)) {
        return;
      }
      check_interrupt_at(turn++, kManyEntries);
      const int tag = dwarf_tag(&child);
      if (tag == DW_TAG_subprogram) {
        listed.ranges.add(child, static_cast<std::uint32_t>(listed.dies.size()));
        listed.dies.push_back(child);
      }
      if (tag == DW_TAG_namespace || tag == DW_TAG_module || deep) {
        self(self, child, depth + 1);
      }
    } while (step_to_sibling(child));
  };
  list(list, tree_, 0);
  listed.ranges.close();
  return listed;
}

// Functions inside others (Fortran, Ada, GNU C) and inside types are rare, and all DIEs have to be
// looked through for them: that is done for an address that the outer ones do not have.
Dwarf_Die* Unit::function_at(Address address) {
  if (!functions_) {
    functions_ = list_functions(false);
  }
  std::uint32_t found = functions_->ranges.find(address);
  if (found == kNoRange && !listed_deep_) {
    functions_ = list_functions(true);
    listed_deep_ = true;
    found = functions_->ranges.find(address);
  }
  return found != kNoRange ? &functions_->dies[found] : nullptr;
}

// Code that an optimizer put together has no line of its own (0 in the table); what is inlined
// there is known all the same.
std::vector<SourceLine> Unit::lines_at(Address address) {
  if (!is_read_) {
    read();
  }
  const auto position = position_at(address);
  SourceLine place;
  if (position) {
    place.file = files_->shown(position->file);
    place.directory = files_->directory_of(place.file);
    place.line = static_cast<unsigned>(position->line);
  }
  const Dwarf_Die* function = function_at(address);
  if (function == nullptr) {  // an assembler's, or the .dwo file is missing
    return position ? std::vector{std::move(place)} : std::vector<SourceLine>();
  }
  std::vector<Dwarf_Die> chain = inlined_chain(*function, address);
  if (!position && chain.size() == 1) {
    return {};  // nothing but the name, which the symbols have
  }
  std::vector<SourceLine> lines;
  for (auto die = chain.rbegin(); die != chain.rend(); ++die) {
    place.function = function_name(*die);
    lines.push_back(std::move(place));
    place = {.function = {},
             .file = called_->shown(number_of(*die, DW_AT_call_file)),
             .line = static_cast<unsigned>(number_of(*die, DW_AT_call_line))};
    place.directory = called_->directory_of(place.file);
  }
  return lines;
}

}  // namespace whocall
