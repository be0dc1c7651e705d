#include "process/modules/link_map.h"

#include <elf.h>

#include <algorithm>
#include <optional>

#include "arch/elf_machine.h"
#include "memory/memory_text.h"

namespace whocall {
namespace {

// Bounds for lists that were overwritten; real programs have a few hundred entries.
constexpr std::size_t kEntryLimit = 8192;
constexpr std::size_t kTagLimit = 1024;
// struct r_debug { int version; struct link_map *map; brk; state; base }, ints padded to a word,
// and struct link_map { addr, name, dynamic, next, previous }; behind these each linker has its
// own.
constexpr unsigned kPublicWords = 5;
constexpr unsigned kFirstEntry = 1;
constexpr unsigned kName = 1;
constexpr unsigned kNextEntry = 3;
constexpr unsigned kPreviousEntry = 4;

class WordReader {
 public:
  WordReader(const Memory& memory, const Architecture& arch) : memory_(memory), arch_(arch) {}

  // The word number `index` of the structure at `address`.
  [[nodiscard]] std::optional<std::uint64_t> word(Address address, unsigned index = 0) const {
    const Address place = (address + std::uint64_t{index} * arch_.abi.pointer_size);
    return memory_.read_unsigned(place & arch_.address_mask(), arch_.abi.pointer_size,
                                 arch_.abi.endian);
  }
  [[nodiscard]] const Architecture& arch() const { return arch_; }

 private:
  const Memory& memory_;
  const Architecture& arch_;
};

// Runtime address of the word that leads to struct r_debug, as the program's dynamic table tells
// it.
std::optional<Address> debug_word(const WordReader& reader, const LoadedElf& program) {
  const ElfSegment* dynamic = segment_of_type(program.segments, PT_DYNAMIC);
  const Address table = dynamic == nullptr ? 0 : dynamic->address + program.bias;
  if (dynamic == nullptr) {
    return std::nullopt;
  }
  const unsigned word = reader.arch().abi.pointer_size;
  for (std::size_t entry = 0; entry < kTagLimit; ++entry) {
    const Address place = table + entry * 2 * word;
    const auto tag = reader.word(place);
    const auto value = reader.word(place, 1);
    if (!tag || !value || *tag == DT_NULL) {
      return std::nullopt;
    }
    if (*tag == DT_DEBUG && *value != 0) {
      return place + word;
    }
    // Where the table is read-only, it holds the place of a word that the linker fills in.
    const bool has_rld_map = elf_machine(reader.arch().abi.elf_machine).has_rld_map;
    if (has_rld_map && *tag == DT_MIPS_RLD_MAP) {
      return value;
    }
    if (has_rld_map && *tag == DT_MIPS_RLD_MAP_REL) {
      return place + *value;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<LinkMapEntry> read_link_map(const Memory& memory, const LoadedElf& program,
                                        const Architecture& arch) {
  std::vector<LinkMapEntry> entries;
  const WordReader reader(memory, arch);
  const auto word = debug_word(reader, program);
  const auto debug = word ? reader.word(*word) : std::nullopt;
  auto next = debug ? reader.word(*debug, kFirstEntry) : std::nullopt;
  while (next && *next != 0 && entries.size() < kEntryLimit) {
    // struct link_map { addr, name, dynamic, next, previous }
    const auto bias = reader.word(*next, 0);
    const auto name = reader.word(*next, 1);
    const auto table = reader.word(*next, 2);
    if (!bias || !name || !table) {
      break;
    }
    entries.push_back({read_string(memory, *name), *bias, *table});
    const auto previous = next;
    next = reader.word(*next, 3);
    // The list is linked both ways: an entry that does not point back is not one.
    if (next && *next != 0 && reader.word(*next, 4) != previous) {
      break;
    }
  }
  return entries;
}

std::vector<AddressRange> link_map_places(const Memory& memory, const LoadedElf& program,
                                          const Architecture& arch) {
  std::vector<AddressRange> places;
  const std::uint64_t size = std::uint64_t{kPublicWords} * arch.abi.pointer_size;
  const WordReader reader(memory, arch);
  const auto word = debug_word(reader, program);
  const auto debug = word ? reader.word(*word) : std::nullopt;
  auto next = debug ? reader.word(*debug, kFirstEntry) : std::nullopt;
  if (debug) {
    places.push_back({*word, *word + arch.abi.pointer_size});
    places.push_back({*debug, *debug + size});
  }
  std::uint64_t previous = 0;
  while (next && *next != 0 && reader.word(*next, kPreviousEntry) == previous &&
         places.size() < kEntryLimit) {
    places.push_back({*next, *next + size});
    const Address name = reader.word(*next, kName).value_or(0);
    const std::string text = read_string(memory, name);
    if (!text.empty()) {
      places.push_back({name, name + text.size() + 1});
    }
    previous = *next;
    next = reader.word(*next, kNextEntry);
  }
  return places;
}

// l_addr is the header's address except for prelinked libraries; then the header lies at the start
// of some mapping below the dynamic table.
std::optional<LoadedElf> read_listed_elf(const Memory& memory, const LinkMapEntry& entry,
                                         std::span<const Mapping> mappings,
                                         const Architecture& arch) {
  const auto fits = [&](const std::optional<LoadedElf>& image) {
    const ElfSegment* dynamic = image ? segment_of_type(image->segments, PT_DYNAMIC) : nullptr;
    return dynamic != nullptr && dynamic->address + image->bias == entry.dynamic;
  };
  auto image = read_loaded_elf(memory, entry.bias, arch);
  auto mapping = std::ranges::upper_bound(mappings, entry.dynamic, {},
                                          [](const Mapping& m) { return m.range.begin; });
  for (int tries = 0; !fits(image) && mapping != mappings.begin() && tries < 8; ++tries) {
    --mapping;
    image = read_loaded_elf(memory, mapping->range.begin, arch);
  }
  return fits(image) ? image : std::nullopt;
}

AddressRange range_to_dynamic_table(const LinkMapEntry& entry, std::span<const Mapping> mappings) {
  const auto mapping = std::ranges::find_if(
      mappings, [&](const Mapping& m) { return m.range.contains(entry.dynamic); });
  const bool plausible = mapping != mappings.end() && entry.bias < entry.dynamic;
  return plausible ? AddressRange{entry.bias, mapping->range.end} : AddressRange{};
}

}  // namespace whocall
