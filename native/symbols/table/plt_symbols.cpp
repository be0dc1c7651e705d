#include "symbols/table/plt_symbols.h"

#include <elf.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arch/architecture.h"
#include "arch/elf_machine.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/interrupt.h"
#include "object/bfd_library.h"
#include "object/elf_imports.h"
#include "object/elf_symbols.h"
#include "object/range_index.h"

namespace whocall {
namespace {

std::vector<BfdSymbol> read_slots(const std::string& path) {
  BfdLibrary* library = BfdLibrary::get();
  if (library == nullptr) {
    return {};
  }
  try {
    return library->open(path)->synthetic_symbols();
  } catch (const Error&) {
    return {};  // an image from memory, or a file that has gone: its slots stay without names
  }
}

// "puts@GLIBC_2.2.5@plt" says more than a reader asks for.
void drop_version(std::string& name) {
  const std::size_t last = name.rfind('@');
  const std::size_t first = name.find('@');
  if (first != 0 && first < last) {
    name.erase(first, last - first);
  }
}

using Slots = std::span<const BfdSymbol>;

// Slots of one section have one size, which nobody writes down reliably (i386 linkers said 4 for
// 16): the smallest distance of two, or what is usual where there is only one.
std::uint64_t slot_size(Slots slots) {
  constexpr std::uint64_t kUsual = 16;
  std::uint64_t size = 0;
  for (std::size_t i = 1; i < slots.size(); ++i) {
    const std::uint64_t distance = slots[i].address - slots[i - 1].address;
    size = distance == 0 || (size != 0 && size < distance) ? size : distance;
  }
  return size == 0 ? kUsual : size;
}

void add_slots(Slots slots, Address section_end, SymbolList& symbols) {
  const std::uint64_t size = slot_size(slots);
  for (const BfdSymbol& slot : slots) {
    Symbol symbol;
    symbol.range = {slot.address, std::min(end_of(slot.address, size), section_end)};
    symbol.name = slot.name;
    symbol.source = NameSource::plt;
    symbol.exact_end = false;
    symbols.add(symbol);
  }
}

// `slots` ascend by address; those of one section are taken together: visit(slots, section).
template <typename Visit>
void for_each_section(Slots slots, const ElfFile& file, Visit visit) {
  while (!slots.empty()) {
    const ElfSection* section = file.section_at(slots.front().address);
    if (section == nullptr) {
      slots = slots.subspan(1);
      continue;
    }
    const AddressRange range{section->address, end_of(section->address, section->size)};
    const auto behind = std::find_if(slots.begin(), slots.end(), [&](const BfdSymbol& slot) {
      return slot.address >= range.end;
    });
    const auto count = static_cast<std::size_t>(behind - slots.begin());
    visit(slots.first(count), range);
    slots = slots.subspan(count);
  }
}

// Folklore. Situation: one FDE covers all slots of a section. Example: ld writes one for .plt and
// one for .plt.sec. Remedy: it is no function, and ends where the first slot begins: before .plt's
// stands the code that calls the loader. `symbols` are sorted.
void end_before_slots(Slots slots, const AddressRange& section, SymbolList& symbols) {
  auto& records = symbols.records();
  const auto index_of = [&](Address address) {
    const auto found = std::ranges::lower_bound(records, address, {}, &CompactSymbol::start);
    return static_cast<std::size_t>(found - records.begin());
  };
  const std::size_t end = index_of(section.end);
  std::size_t kept = index_of(section.begin);
  for (std::size_t index = kept; index < end; ++index) {
    const AddressRange range = symbols.range(index);
    const auto slot = std::ranges::lower_bound(slots, range.begin, {}, &BfdSymbol::address);
    const bool overlaps =
        symbols[index].name.empty() && slot != slots.end() && slot->address < range.end;
    if (overlaps && slot->address > range.begin) {
      symbols.set_length(index, slot->address - range.begin);
    }
    if (!overlaps || slot->address > range.begin) {
      records[kept++] = records[index];
    }
  }
  records.erase(records.begin() + static_cast<std::ptrdiff_t>(kept),
                records.begin() + static_cast<std::ptrdiff_t>(end));
}

bool is_plt(const ElfFile& file, const ElfSection& section) {
  const std::string_view stubs = elf_machine(file.machine()).stub_section;
  return section.name.starts_with(".plt") || section.name.starts_with(".iplt") ||
         (!stubs.empty() && section.name == stubs);
}

// What MIPS has where others have a PLT, and BFD says nothing of.
void append_stubs(const ElfFile& file, std::vector<BfdSymbol>& slots) {
  const std::string_view name = elf_machine(file.machine()).stub_section;
  const ElfSection* section = name.empty() ? nullptr : file.section(name);
  if (section == nullptr || section->size == 0) {
    return;
  }
  const AddressRange stubs{section->address, end_of(section->address, section->size)};
  for (const ElfSymbol& symbol : dynamic_symbols(file)) {
    if (symbol.section == SHN_UNDEF && stubs.contains(symbol.value) && !symbol.name.empty()) {
      slots.push_back({.name = std::string(symbol.name) + "@plt", .address = symbol.value});
    }
  }
}

// What slots are called, by the word that they jump through. Those of functions that the file
// itself chooses when it is loaded (IRELATIVE) are called as libbfd does it, by the function that
// chooses; in 32-bit files, where it calls them all the same, they stay without names.
std::unordered_map<Address, std::string> slot_names(const ElfFile& file) {
  std::unordered_map<Address, std::string> names;
  for (const auto& [where, name] : imported_functions(file)) {
    names.emplace(where, std::string(name) + "@plt");
  }
  if (names.empty() || file.pointer_size() != 8) {
    return names;
  }
  std::vector<AddressRange> words;
  for (const ElfSection& section : file.sections()) {
    if (section.name.starts_with(".got")) {
      words.push_back({section.address, end_of(section.address, section.size)});
    }
  }
  for_each_relative_pointer(file, [&](Address where, Address chooser) {
    if (std::ranges::any_of(words,
                            [=](const AddressRange& each) { return each.contains(where); })) {
      names.emplace(where, "*ABS*+" + hex(chooser) + "@plt");
    }
  });
  return names;
}

// Folklore. Situation: a libbfd knows only the machines that it was built for. Example: Debian's
// says nothing of ARM files on x86-64. Remedy: a slot is nothing but a jump through a word, and
// relocations tell which function that word is bound to. Test: tests/ports/test_names.py.
void append_decoded_slots(const ElfFile& file, std::vector<BfdSymbol>& slots) {
  const Architecture* arch = find_architecture(file.identity());
  if (arch == nullptr || arch->linkage.jump_stub == nullptr) {
    return;
  }
  auto names = slot_names(file);
  for (const ElfSection& section : file.sections()) {
    const auto code = is_plt(file, section) ? file.contents(section) : std::nullopt;
    for (std::uint64_t at = 0; code && at < code->size(); at += arch->code.alignment) {
      check_interrupt_at(at, kManyEntries);
      const auto stub = arch->linkage.stub_at(code->from(at), section.address + at);
      const auto name = stub && stub->slot ? names.find(*stub->slot) : names.end();
      if (name != names.end()) {
        slots.push_back({.name = std::move(name->second), .address = section.address + at});
        names.erase(name);  // ARM: the code for A32 behind that for T32 is the same slot
      }
    }
  }
}

// Folklore. Situation: for AArch64 libbfd counts, a slot for each relocation of .rela.plt. Example:
// those of libstdc++'s TLS descriptors have no slots, and the code behind the last slot, which
// resolves descriptors, is __once_callable@plt. Remedy: the slots are decoded, as on machines whose
// libbfd knows nothing of such files. Test: scripts/arm64, where it does know.
std::vector<BfdSymbol> named_slots(const ElfFile& file) {
  std::vector<BfdSymbol> slots;
  if (!std::ranges::any_of(file.sections(), [&](const auto& each) { return is_plt(file, each); })) {
    return slots;
  }
  if (!elf_machine(file.machine()).has_counted_slots) {
    slots = read_slots(file.path());
  }
  if (slots.empty()) {
    append_decoded_slots(file, slots);
  }
  return slots;
}

}  // namespace

std::shared_ptr<const SymbolTable> with_plt_names(std::shared_ptr<const SymbolTable> table,
                                                  const ElfFile& file) {
  std::vector<BfdSymbol> slots = named_slots(file);
  append_stubs(file, slots);
  if (slots.empty()) {
    return table;
  }
  std::ranges::sort(slots, {}, &BfdSymbol::address);
  for (BfdSymbol& slot : slots) {
    drop_version(slot.name);
  }
  SymbolList symbols = table->branch();
  for_each_section(slots, file, [&](Slots of_one, const AddressRange& section) {
    end_before_slots(of_one, section, symbols);
  });
  for_each_section(slots, file, [&](Slots of_one, const AddressRange& section) {
    add_slots(of_one, section.end, symbols);
  });
  return SymbolTable::from_symbols(std::move(symbols));
}

bool is_in_plt(const ElfFile& file, Address address) {
  const ElfSection* section = file.section_at(address);
  return section != nullptr && is_plt(file, *section);
}

}  // namespace whocall
