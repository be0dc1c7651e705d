#include "symbols/inferred/function_clues.h"

#include <algorithm>

#include "symbols/discovery/data_words.h"
#include "symbols/inferred/constant_arguments.h"
#include "symbols/inferred/message_calls.h"
#include "symbols/inferred/part_names.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

// Index of the first symbol that starts behind `address`.
std::size_t first_behind(const SymbolRange& symbols, Address address) {
  std::size_t first = 0;
  std::size_t last = symbols.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (symbols.start(middle) <= address) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

// Whether it begins a function for FunctionStarts, whatever the code tells.
bool begins(const SymbolRange& symbols, std::size_t index) {
  return evidence_of(symbols.source(index)).certain();
}

}  // namespace

FunctionClues::FunctionClues(const NameEvidence& evidence)
    : evidence_(evidence), areas_(code_areas(evidence.file)) {
  for (const AddressRange& part : code_parts(evidence.file)) {
    part_starts_.push_back(part.begin);
  }
}

bool FunctionClues::is_pointed_to(Address function) {
  if (!pointed_) {
    pointed_ = pointed_to(evidence_.file, areas_);
    for (Address& target : *pointed_) {
      target = evidence_.arch.code_address(target);
    }
    if (!std::ranges::is_sorted(*pointed_)) {
      std::ranges::sort(*pointed_);
    }
  }
  return area_of(function) == nullptr || std::ranges::binary_search(*pointed_, function);
}

bool FunctionClues::takes_texts(Address function) {
  const AddressRange* area = area_of(function);
  if (area == nullptr || takes_texts(*area, function)) {
    return true;
  }
  return std::ranges::any_of(parts_of(*area, function), [&](Address part) {
    const AddressRange* around = area_of(part);
    return around == nullptr || takes_texts(*around, part);
  });
}

const AddressRange* FunctionClues::area_of(Address address) const {
  const auto area = std::ranges::find_if(
      areas_, [&](const AddressRange& each) { return each.contains(address); });
  return area == areas_.end() ? nullptr : &*area;
}

bool FunctionClues::takes_texts(const AddressRange& area, Address start) const {
  const auto found =
      constant_addresses(evidence_.file, evidence_.arch, area, range_of(area, start));
  return std::ranges::any_of(found, [&](const ConstantAddress& each) {
    return is_part_of_message(evidence_.file, each.value);
  });
}

// Starts that only the code shows may cut it shorter.
AddressRange FunctionClues::range_of(const AddressRange& area, Address start) const {
  AddressRange range{start, area.end};
  const SymbolRange symbols = evidence_.table.symbols();
  std::size_t next = first_behind(symbols, start);
  while (next < symbols.size() && !begins(symbols, next)) {
    ++next;
  }
  if (next < symbols.size()) {
    range.end = std::min(range.end, symbols.start(next));
  }
  const auto part = std::ranges::upper_bound(part_starts_, start);
  return {start, part == part_starts_.end() ? range.end : std::min(range.end, *part)};
}

// Where the jumps of a function lead that may be a part of it: to what only unwind tables and
// section headers tell of. PartParents says which of those are.
std::vector<Address> FunctionClues::parts_of(const AddressRange& area, Address function) const {
  std::vector<Address> parts;
  if (evidence_.arch.code.append_direct_jumps == nullptr) {
    return parts;
  }
  const AddressRange own = range_of(area, function);
  const AddressRange around = with_surroundings(area, own);
  const ByteView code = evidence_.file.at(around.begin);
  const auto inside = code.slice(0, std::min<std::uint64_t>(around.size(), code.size()));
  std::vector<DirectJump> jumps;
  if (inside) {
    evidence_.arch.code.append_direct_jumps(*inside, around.begin, {0, ~Address{0}}, jumps);
  }
  for (const DirectJump& jump : jumps) {
    if (!own.contains(jump.source) || own.contains(jump.target)) {
      continue;
    }
    if (const auto part = part_around(jump.target)) {
      parts.push_back(*part);
    }
  }
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

// The start of what holds `address`, if that may be a part of a function; a miss when a symbol says
// that it lies in a function.
std::optional<Address> FunctionClues::part_around(Address address) const {
  const SymbolRange symbols = evidence_.table.symbols();
  std::size_t next = first_behind(symbols, address);
  while (next != 0 && !begins(symbols, next - 1)) {
    --next;
  }
  std::optional<Address> start;
  if (next != 0) {
    start = symbols.start(next - 1);
    if (symbols.exact_end(next - 1) && symbols.range(next - 1).end <= address) {
      start = symbols.range(next - 1).end;  // nobody says what follows the function
    }
  }
  const auto behind = std::ranges::upper_bound(part_starts_, address);
  if (behind != part_starts_.begin()) {
    start = std::max(start.value_or(0), *std::prev(behind));
  }
  for (; start && next != 0 && symbols.start(next - 1) == *start; --next) {
    if (evidence_of(symbols.source(next - 1)).is_function()) {
      return std::nullopt;
    }
  }
  return start;
}

bool FunctionClues::may_be_part(Address function) {
  return begins_within_frame(evidence_.file, evidence_.arch, evidence_.arch.code_address(function));
}

}  // namespace whocall
