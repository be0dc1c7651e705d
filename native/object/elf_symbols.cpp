#include "object/elf_symbols.h"

#include <elf.h>

#include <algorithm>

#include "arch/elf_machine.h"
#include "base/interrupt.h"
#include "object/elf_dynamic.h"

namespace whocall {
namespace {

// A longer name is no name: without a limit, a million symbols that share one huge string would
// have it searched for its end a million times.
constexpr std::size_t kLongestName = std::size_t{1} << 16;

// DT_HASH says the number of symbols (gABI, "Hash table": nchain equals it).
std::uint64_t count_from_hash(const ElfFile& file, Address table) {
  const bool wide = file.pointer_size() == elf_machine(file.machine()).wide_hash_pointer;
  const unsigned word = wide ? 8 : 4;
  return file.at(table).read_unsigned(word, word).value_or(0);
}

// DT_GNU_HASH does not: the last symbol is the end of the chain that begins highest. Hostile
// chains end at the end of their segment.
std::uint64_t count_from_gnu_hash(const ElfFile& file, Address table) {
  const ByteView bytes = file.at(table);
  const std::uint64_t bucket_count =
      file.budget().cut(Cost::symbols, bytes.read<std::uint32_t>(0).value_or(0));
  const std::uint64_t first_hashed = bytes.read<std::uint32_t>(4).value_or(0);
  const std::uint64_t bloom_words = bytes.read<std::uint32_t>(8).value_or(0);
  const std::uint64_t buckets = 16 + bloom_words * file.pointer_size();
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < bucket_count; ++i) {
    const auto bucket = bytes.read<std::uint32_t>(buckets + i * 4);
    check_interrupt_at(i, kManyEntries);
    if (!bucket) {
      break;
    }
    last = std::max<std::uint64_t>(last, *bucket);
  }
  if (last < first_hashed) {
    return first_hashed;  // nothing is exported, the imports stand before
  }
  const std::uint64_t chains = buckets + bucket_count * 4;
  const std::uint64_t most = file.budget().left(Cost::symbols);
  while (true) {
    const auto hash = bytes.read<std::uint32_t>(chains + (last - first_hashed) * 4);
    ++last;
    check_interrupt_at(last, kManyEntries);
    if (!hash || (*hash & 1U) != 0 || last - first_hashed >= most) {
      return last;
    }
  }
}

std::vector<ElfSymbol> all_of(const ElfSymbols& table) {
  std::vector<ElfSymbol> symbols;
  for (std::size_t i = 1; i < table.size(); ++i) {
    const ElfSymbolEntry entry = table[i];
    symbols.push_back({entry, table.name_of(entry)});
  }
  return symbols;
}

}  // namespace

std::string_view ElfSymbols::name_of(const ElfSymbolEntry& entry) const {
  const ByteView rest = strings_.from(entry.name_offset);
  return rest.slice(0, std::min(rest.size(), kLongestName))
      ->c_string(0)
      .value_or(std::string_view());
}

std::optional<ElfSymbols> ElfSymbols::in_section(const ElfFile& file, std::uint32_t type) {
  ElfSymbols table;
  table.wide_ = file.pointer_size() == 8;
  const auto sections = file.sections();
  for (const ElfSection& section : sections) {
    const auto entries = section.type == type ? file.contents(section) : std::nullopt;
    if (!entries || section.link >= sections.size()) {
      continue;
    }
    const std::uint64_t stride = table.wide_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    const std::uint64_t count = file.budget().cut(Cost::symbols, entries->size() / stride);
    table.entries_ = *entries->slice(0, count * stride);
    table.strings_ = file.contents(sections[section.link]).value_or(ByteView());
    for (const ElfSection& other : sections) {
      if (other.type == SHT_SYMTAB_SHNDX && other.link == section.index) {
        table.section_numbers_ = file.contents(other).value_or(ByteView());
      }
    }
    return table;
  }
  return std::nullopt;
}

ElfSymbols ElfSymbols::in_dynamic_table(const ElfFile& file) {
  ElfSymbols symbols;
  symbols.wide_ = file.pointer_size() == 8;
  const ElfDynamic dynamic(file);
  const auto table = dynamic.value(DT_SYMTAB);
  if (!table) {
    return symbols;
  }
  const std::uint64_t stride = symbols.wide_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  const ByteView entries = file.at(*table);
  std::uint64_t count = 0;
  if (const auto hash = dynamic.value(DT_HASH)) {
    count = count_from_hash(file, *hash);
  }
  if (const auto hash = dynamic.value(DT_GNU_HASH); hash && count == 0) {
    count = count_from_gnu_hash(file, *hash);
  }
  count = file.budget().cut(Cost::symbols, std::min<std::uint64_t>(count, entries.size() / stride));
  symbols.entries_ = *entries.slice(0, count * stride);
  symbols.strings_ = dynamic.strings();
  return symbols;
}

ElfSymbols ElfSymbols::static_of(const ElfFile& file) {
  return in_section(file, SHT_SYMTAB).value_or(ElfSymbols());
}

ElfSymbols ElfSymbols::dynamic_of(const ElfFile& file) {
  const auto table = in_section(file, SHT_DYNSYM);
  return table ? *table : in_dynamic_table(file);
}

std::vector<ElfSymbol> static_symbols(const ElfFile& file) {
  return all_of(ElfSymbols::static_of(file));
}

std::vector<ElfSymbol> dynamic_symbols(const ElfFile& file) {
  return all_of(ElfSymbols::dynamic_of(file));
}

}  // namespace whocall
