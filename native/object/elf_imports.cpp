#include "object/elf_imports.h"

#include <elf.h>

#include <vector>

#include "object/elf_symbols.h"

namespace whocall {
namespace {

struct Relocation {
  Address where = 0;         // link address of the word
  std::uint64_t symbol = 0;  // index in .dynsym; 0: none
  std::uint64_t addend = 0;  // of RELA; of REL the word itself holds it
};

// The loaded relocation sections, entry by entry.
void for_each_relocation(const ElfFile& file, const std::function<void(const Relocation&)>& visit) {
  const unsigned word = file.pointer_size();
  for (const ElfSection& section : file.sections()) {
    const bool with_addend = section.type == SHT_RELA;
    const auto bytes = file.contents(section);
    if ((!with_addend && section.type != SHT_REL) || (section.flags & SHF_ALLOC) == 0 || !bytes) {
      continue;
    }
    const std::uint64_t entry = word * (with_addend ? 3U : 2U);
    for (std::uint64_t at = 0; at + entry <= bytes->size(); at += entry) {
      Relocation relocation;
      relocation.where = bytes->read_unsigned(at, word).value_or(0);
      const std::uint64_t info = bytes->read_unsigned(at + word, word).value_or(0);
      relocation.symbol = word == 8 ? info >> 32U : info >> 8U;
      relocation.addend = with_addend
                              ? bytes->read_unsigned(at + 2ULL * word, word).value_or(0)
                              : file.at(relocation.where).read_unsigned(0, word).value_or(0);
      visit(relocation);
    }
  }
}

// The words of SHT_RELR: an even entry is the address of a word; an odd one is a bit map of the
// words that follow the last one told of (gABI, "Relative Relocation Table"). The words themselves
// hold what is added to the load bias.
void for_each_packed_relocation(const ElfFile& file, const std::function<void(Address)>& visit) {
  constexpr std::uint32_t kRelr = 19;  // SHT_RELR
  const unsigned word = file.pointer_size();
  for (const ElfSection& section : file.sections()) {
    const auto bytes = section.type == kRelr && (section.flags & SHF_ALLOC) != 0
                           ? file.contents(section)
                           : std::nullopt;
    Address next = 0;
    for (std::uint64_t at = 0; bytes && at + word <= bytes->size(); at += word) {
      std::uint64_t entry = bytes->read_unsigned(at, word).value_or(0);
      if ((entry & 1U) == 0) {
        visit(entry);
        next = entry + word;
        continue;
      }
      Address each = next;
      for (entry >>= 1U; entry != 0; entry >>= 1U, each += word) {
        if ((entry & 1U) != 0) {
          visit(each);
        }
      }
      next += (8ULL * word - 1) * word;
    }
  }
}

}  // namespace

// Any dynamic relocation against a named symbol binds the word to the symbol, so the relocation's
// type (which differs with every machine) need not be known.
std::unordered_map<Address, std::string_view> imported_functions(const ElfFile& file) {
  std::unordered_map<Address, std::string_view> imports;
  const std::vector<ElfSymbol> symbols = dynamic_symbols(file);  // without the empty entry 0
  for_each_relocation(file, [&](const Relocation& relocation) {
    if (relocation.symbol != 0 && relocation.symbol <= symbols.size() &&
        !symbols[relocation.symbol - 1].name.empty()) {
      imports.emplace(relocation.where, symbols[relocation.symbol - 1].name);
    }
  });
  return imports;
}

void for_each_relative_pointer(const ElfFile& file,
                               const std::function<void(Address where, Address target)>& visit) {
  for_each_relocation(file, [&](const Relocation& relocation) {
    if (relocation.symbol == 0) {
      visit(relocation.where, relocation.addend);
    }
  });
  for_each_packed_relocation(file, [&](Address where) {
    visit(where, file.at(where).read_unsigned(0, file.pointer_size()).value_or(0));
  });
}

}  // namespace whocall
