#include "symbols/function_starts.h"

#include <elf.h>

#include <algorithm>
#include <set>

#include "object/elf_imports.h"
#include "symbols/code_areas.h"

namespace whocall {
namespace {

void sort_distinct(std::vector<Address>& addresses) {
  std::ranges::sort(addresses);
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

}  // namespace

FunctionStarts::FunctionStarts(const ElfFile& file, const Architecture& arch,
                               const SymbolTable& symbols)
    : areas_(code_areas(file)) {
  called_.push_back(file.entry());
  for (const AddressRange& area : areas_) {
    const ByteView code = file.at(area.begin);
    if (const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()))) {
      arch.append_call_targets(*inside, area.begin, called_);
      if (arch.append_marked_starts != nullptr) {
        arch.append_marked_starts(*inside, area.begin, called_);
      }
    }
  }
  for (const Symbol& symbol : symbols.symbols()) {
    (symbol.name.empty() ? starts_ : called_).push_back(symbol.range.begin);
  }
  for (const AddressRange& part : code_parts(file)) {
    starts_.push_back(part.begin);
  }
  add_code_pointers(file, arch);
  sort_distinct(called_);
  starts_.insert(starts_.end(), called_.begin(), called_.end());
  sort_distinct(starts_);
}

// Functions that are only called through pointers: the words of the data that point to code, at a
// place where no flow comes from above. Position-independent files keep them as the addends of
// relocations, all others in the words themselves.
void FunctionStarts::add_code_pointers(const ElfFile& file, const Architecture& arch) {
  const auto consider = [&](Address target) {
    const auto area = std::ranges::find_if(
        areas_, [&](const AddressRange& candidate) { return candidate.contains(target); });
    if (area == areas_.end() || arch.flow_ends == nullptr) {
      return;
    }
    const auto before = file.at(area->begin).slice(0, target - area->begin);
    if (target == area->begin || (before && arch.flow_ends(*before))) {
      called_.push_back(target);
    }
  };
  for_each_relative_pointer(file, consider);
  if (file.type() != ET_EXEC) {
    return;
  }
  const std::set<Address> cases = switch_cases(file, arch);
  for (const ElfSection& section : file.sections()) {
    const bool data = section.type == SHT_PROGBITS || section.type == SHT_INIT_ARRAY ||
                      section.type == SHT_FINI_ARRAY;
    const auto bytes = file.contents(section);
    if (!data || !bytes || (section.flags & SHF_ALLOC) == 0 ||
        (section.flags & SHF_EXECINSTR) != 0) {
      continue;
    }
    for (std::uint64_t at = 0; at + arch.pointer_size <= bytes->size(); at += arch.pointer_size) {
      const Address word = bytes->read_unsigned(at, arch.pointer_size).value_or(0);
      if (!cases.contains(word)) {
        consider(word);
      }
    }
  }
}

// What the tables of indirect jumps point to; a table ends where another begins or where a word
// does not point to code.
std::set<Address> FunctionStarts::switch_cases(const ElfFile& file,
                                               const Architecture& arch) const {
  std::vector<Address> tables;
  for (const AddressRange& area : areas_) {
    const ByteView code = file.at(area.begin);
    const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()));
    if (inside && arch.append_jump_tables != nullptr) {
      arch.append_jump_tables(*inside, tables);
    }
  }
  sort_distinct(tables);
  std::set<Address> cases;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Address end = i + 1 < tables.size() ? tables[i + 1] : ~Address{0};
    for (Address at = tables[i]; at < end; at += arch.pointer_size) {
      const auto word = file.at(at).read_unsigned(0, arch.pointer_size);
      const bool is_code = word && std::ranges::any_of(areas_, [&](const AddressRange& area) {
                             return area.contains(*word);
                           });
      if (!is_code) {
        break;
      }
      cases.insert(*word);
    }
  }
  return cases;
}

bool FunctionStarts::is_called(Address link) const {
  return std::ranges::binary_search(called_, link);
}

std::optional<AddressRange> FunctionStarts::function_at(Address link) const {
  const auto area = std::ranges::find_if(
      areas_, [&](const AddressRange& candidate) { return candidate.contains(link); });
  if (area == areas_.end()) {
    return std::nullopt;
  }
  const auto next = std::ranges::upper_bound(starts_, link);
  if (next == starts_.begin()) {
    return std::nullopt;
  }
  return AddressRange{*std::prev(next),
                      next == starts_.end() ? area->end : std::min(*next, area->end)};
}

}  // namespace whocall
