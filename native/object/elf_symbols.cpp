#include "object/elf_symbols.h"

#include <elf.h>

#include <algorithm>

#include "object/elf_dynamic.h"

namespace whocall {
namespace {

// One symbol table with what its entries refer to.
struct SymbolSource {
  ByteView entries;
  ByteView strings;
  ByteView wide_sections;  // SHT_SYMTAB_SHNDX: section numbers that do not fit 16 bits
};

// A longer name is no name: without a limit, a million symbols that share one huge string would
// have it searched for its end a million times.
constexpr std::size_t kLongestName = std::size_t{1} << 16;

std::string_view name_at(ByteView strings, std::uint32_t offset) {
  const ByteView rest = strings.from(offset);
  return rest.slice(0, std::min(rest.size(), kLongestName))
      ->c_string(0)
      .value_or(std::string_view());
}

// gABI, "Symbol table": the two classes order the same fields differently.
template <bool Wide>
void decode(const SymbolSource& source, const SymbolVisitor& visit) {
  constexpr std::size_t kStride = Wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  const std::size_t count = source.entries.size() / kStride;
  for (std::size_t i = 1; i < count; ++i) {  // entry 0 is undefined by definition
    const std::size_t at = i * kStride;
    const auto u8 = [&](std::size_t field) {
      return *source.entries.read<std::uint8_t>(at + field);
    };
    const auto u16 = [&](std::size_t field) {
      return *source.entries.read<std::uint16_t>(at + field);
    };
    const auto u32 = [&](std::size_t field) {
      return *source.entries.read<std::uint32_t>(at + field);
    };
    ElfSymbol symbol;
    symbol.name = name_at(source.strings, u32(0));
    const std::uint8_t info = u8(Wide ? 4 : 12);
    symbol.type = info & 15U;
    symbol.binding = static_cast<std::uint8_t>(info >> 4U);
    symbol.visibility = u8(Wide ? 5 : 13) & 3U;
    symbol.section = u16(Wide ? 6 : 14);
    if constexpr (Wide) {
      symbol.value = *source.entries.read<std::uint64_t>(at + 8);
      symbol.size = *source.entries.read<std::uint64_t>(at + 16);
    } else {
      symbol.value = u32(4);
      symbol.size = u32(8);
    }
    if (symbol.section == SHN_XINDEX) {
      symbol.section = source.wide_sections.read<std::uint32_t>(i * 4).value_or(SHN_UNDEF);
    }
    visit(symbol);
  }
}

void decode(const ElfFile& file, const std::optional<SymbolSource>& source,
            const SymbolVisitor& visit) {
  if (source) {
    file.pointer_size() == 8 ? decode<true>(*source, visit) : decode<false>(*source, visit);
  }
}

std::optional<SymbolSource> source_in_section(const ElfFile& file, std::uint32_t type) {
  const auto sections = file.sections();
  for (const ElfSection& section : sections) {
    const auto entries = section.type == type ? file.contents(section) : std::nullopt;
    if (!entries || section.link >= sections.size()) {
      continue;
    }
    SymbolSource source;
    source.entries = *entries;
    source.strings = file.contents(sections[section.link]).value_or(ByteView());
    for (const ElfSection& other : sections) {
      if (other.type == SHT_SYMTAB_SHNDX && other.link == section.index) {
        source.wide_sections = file.contents(other).value_or(ByteView());
      }
    }
    return source;
  }
  return std::nullopt;
}

// DT_HASH says the number of symbols (gABI, "Hash table": nchain equals it). Alpha and 64-bit
// s390 are the two machines whose words there have 8 bytes.
std::uint64_t count_from_hash(const ElfFile& file, Address table) {
  constexpr std::uint16_t kAlpha = 0x9026;
  const bool wide =
      file.machine() == kAlpha || (file.machine() == EM_S390 && file.pointer_size() == 8);
  const unsigned word = wide ? 8 : 4;
  return file.at(table).read_unsigned(word, word).value_or(0);
}

// DT_GNU_HASH does not: the last symbol is the end of the chain that begins highest. Hostile
// chains end at the end of their segment.
std::uint64_t count_from_gnu_hash(const ElfFile& file, Address table) {
  const ByteView bytes = file.at(table);
  const std::uint64_t bucket_count = bytes.read<std::uint32_t>(0).value_or(0);
  const std::uint64_t first_hashed = bytes.read<std::uint32_t>(4).value_or(0);
  const std::uint64_t bloom_words = bytes.read<std::uint32_t>(8).value_or(0);
  const std::uint64_t buckets = 16 + bloom_words * file.pointer_size();
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < bucket_count; ++i) {
    const auto bucket = bytes.read<std::uint32_t>(buckets + i * 4);
    if (!bucket) {
      break;
    }
    last = std::max<std::uint64_t>(last, *bucket);
  }
  if (last < first_hashed) {
    return first_hashed;  // nothing is exported, the imports stand before
  }
  const std::uint64_t chains = buckets + bucket_count * 4;
  while (true) {
    const auto hash = bytes.read<std::uint32_t>(chains + (last - first_hashed) * 4);
    ++last;
    if (!hash || (*hash & 1U) != 0) {
      return last;
    }
  }
}

std::optional<SymbolSource> source_in_dynamic_table(const ElfFile& file) {
  const ElfDynamic dynamic(file);
  const auto table = dynamic.value(DT_SYMTAB);
  if (!table) {
    return std::nullopt;
  }
  const std::uint64_t stride = file.pointer_size() == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  const ByteView entries = file.at(*table);
  std::uint64_t count = 0;
  if (const auto hash = dynamic.value(DT_HASH)) {
    count = count_from_hash(file, *hash);
  }
  if (const auto hash = dynamic.value(DT_GNU_HASH); hash && count == 0) {
    count = count_from_gnu_hash(file, *hash);
  }
  SymbolSource source;
  count = std::min<std::uint64_t>(count, entries.size() / stride);
  source.entries = *entries.slice(0, count * stride);
  source.strings = dynamic.strings();
  return source;
}

}  // namespace

void for_each_static_symbol(const ElfFile& file, const SymbolVisitor& visit) {
  decode(file, source_in_section(file, SHT_SYMTAB), visit);
}

void for_each_dynamic_symbol(const ElfFile& file, const SymbolVisitor& visit) {
  auto source = source_in_section(file, SHT_DYNSYM);
  decode(file, source ? source : source_in_dynamic_table(file), visit);
}

std::vector<ElfSymbol> static_symbols(const ElfFile& file) {
  std::vector<ElfSymbol> symbols;
  for_each_static_symbol(file, [&](const ElfSymbol& symbol) { symbols.push_back(symbol); });
  return symbols;
}

std::vector<ElfSymbol> dynamic_symbols(const ElfFile& file) {
  std::vector<ElfSymbol> symbols;
  for_each_dynamic_symbol(file, [&](const ElfSymbol& symbol) { symbols.push_back(symbol); });
  return symbols;
}

}  // namespace whocall
