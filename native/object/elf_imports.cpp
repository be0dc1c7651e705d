#include "object/elf_imports.h"

#include <elf.h>

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "arch/elf_machine.h"
#include "object/elf_dynamic.h"
#include "object/elf_symbols.h"
#include "object/implicit_got.h"
#include "object/relocation_info.h"

namespace whocall {
namespace {

// One of the loaded relocation sections.
class RelocationSection {
 public:
  RelocationSection(const ElfFile& file, const ElfSection& section)
      : file_(file), word_(file.pointer_size()), with_addend_(section.type == SHT_RELA) {
    const bool holds_them = with_addend_ || section.type == SHT_REL;
    if (holds_them && (section.flags & SHF_ALLOC) != 0) {
      bytes_ = file.contents(section).value_or(ByteView());
    }
  }

  [[nodiscard]] std::uint64_t size() const { return bytes_.size() / entry_size(); }
  // The bytes, where the entries are as this machine would write them: Elf64_Rela, which all large
  // libraries have; null elsewhere.
  [[nodiscard]] const std::byte* plain_entries() const {
    const bool plain = word_ == 8 && with_addend_ && bytes_.endian() == Endian::little &&
                       std::endian::native == std::endian::little &&
                       !elf_machine(file_.machine()).has_symbol_first;
    return plain ? bytes_.bytes().data() : nullptr;
  }
  // Index in .dynsym of the symbol of an entry; 0: none.
  [[nodiscard]] std::uint64_t symbol(std::uint64_t index) const {
    return relocation_info(file_, field(index, 1)).symbol;
  }
  // Link address of the word that an entry is about.
  [[nodiscard]] Address where(std::uint64_t index) const { return field(index, 0); }
  [[nodiscard]] std::uint64_t addend(std::uint64_t index) const {
    return with_addend_ ? field(index, 2)
                        : file_.at(where(index)).read_unsigned(0, word_).value_or(0);
  }

 private:
  [[nodiscard]] std::uint64_t entry_size() const {
    return std::uint64_t{word_} * (with_addend_ ? 3U : 2U);
  }
  [[nodiscard]] std::uint64_t field(std::uint64_t index, unsigned number) const {
    return bytes_.read_unsigned(index * entry_size() + std::uint64_t{number} * word_, word_)
        .value_or(0);
  }

  const ElfFile& file_;
  unsigned word_;
  bool with_addend_;
  ByteView bytes_;
};

// How many entries at the beginning of `section` have no symbol. Linkers put those first, in large
// libraries nearly all entries, and say their number to spare the loader a look at each; so it
// spares us reading megabytes. A number that the last of them gives the lie is worth nothing.
std::uint64_t leading_without_symbol(const RelocationSection& entries, const ElfSection& section,
                                     const ElfDynamic& dynamic) {
  const bool with_addend = section.type == SHT_RELA;
  const auto table = dynamic.value(with_addend ? DT_RELA : DT_REL);
  const auto told = dynamic.value(with_addend ? DT_RELACOUNT : DT_RELCOUNT);
  const bool usable = table && *table == section.address && told && *told != 0 &&
                      *told <= entries.size() && entries.symbol(*told - 1) == 0;
  return usable ? *told : 0;
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

// One word for each symbol from the first on that the table has any for.
void add_implicit_imports(const ElfFile& file, const ElfSymbols& symbols,
                          std::unordered_map<Address, std::string_view>& imports) {
  const auto got = implicit_got(file);
  Address where = got ? got->local.end : 0;
  for (auto at = got ? got->first_symbol : symbols.size(); at < symbols.size(); ++at) {
    if (const std::string_view name = symbols.name_of(symbols[at]); !name.empty()) {
      imports.emplace(where, name);
    }
    where += file.pointer_size();
  }
}

// Pointers until they are many enough to be handed over.
class PointerBlock {
 public:
  explicit PointerBlock(const std::function<void(std::span<const RelativePointer>)>& visit)
      : visit_(visit) {}

  void put(const RelativePointer& pointer) {
    pointers_[count_++] = pointer;
    if (count_ == pointers_.size()) {
      flush();
    }
  }
  void flush() { visit_(std::span(pointers_).first(std::exchange(count_, 0))); }

 private:
  const std::function<void(std::span<const RelativePointer>)>& visit_;
  std::array<RelativePointer, 256> pointers_{};
  std::size_t count_ = 0;
};

}  // namespace

// Any dynamic relocation against a named symbol binds the word to the symbol, so the relocation's
// type (which differs with every machine) need not be known.
std::unordered_map<Address, std::string_view> imported_functions(const ElfFile& file) {
  std::unordered_map<Address, std::string_view> imports;
  const ElfSymbols symbols = ElfSymbols::dynamic_of(file);
  const ElfDynamic dynamic(file);
  for (const ElfSection& section : file.sections()) {
    const RelocationSection entries(file, section);
    for (auto at = leading_without_symbol(entries, section, dynamic); at < entries.size(); ++at) {
      const std::uint64_t symbol = entries.symbol(at);
      if (symbol == 0 || symbol >= symbols.size()) {
        continue;
      }
      if (const std::string_view name = symbols.name_of(symbols[symbol]); !name.empty()) {
        imports.emplace(entries.where(at), name);
      }
    }
  }
  add_implicit_imports(file, symbols, imports);
  return imports;
}

void for_each_block_of_relative_pointers(
    const ElfFile& file, const std::function<void(std::span<const RelativePointer>)>& visit) {
  PointerBlock block(visit);
  for (const ElfSection& section : file.sections()) {
    const RelocationSection entries(file, section);
    if (const std::byte* plain = entries.plain_entries()) {
      for (std::uint64_t at = 0; at < entries.size(); ++at) {
        Elf64_Rela entry;
        std::memcpy(&entry, plain + at * sizeof entry, sizeof entry);
        if (ELF64_R_SYM(entry.r_info) == 0) {
          block.put({entry.r_offset, static_cast<Address>(entry.r_addend)});
        }
      }
      continue;
    }
    for (std::uint64_t at = 0; at < entries.size(); ++at) {
      if (entries.symbol(at) == 0) {
        block.put({entries.where(at), entries.addend(at)});
      }
    }
  }
  for_each_packed_relocation(file, [&](Address where) {
    block.put({where, file.at(where).read_unsigned(0, file.pointer_size()).value_or(0)});
  });
  const auto got = file.type() == ET_DYN ? implicit_got(file) : std::nullopt;
  for (Address where = got ? got->local.begin : 0; got && where < got->local.end;
       where += file.pointer_size()) {
    block.put({where, file.at(where).read_unsigned(0, file.pointer_size()).value_or(0)});
  }
  block.flush();
}

}  // namespace whocall
