#include "symbols/data_words.h"

#include <elf.h>

#include <algorithm>
#include <array>

#include "object/elf_imports.h"

namespace whocall {
namespace {

// Bytes that the linker put together; not its own tables, and not what the file leaves to zeros.
bool holds_data(const ElfSection& section) {
  constexpr std::array<std::uint32_t, 4> kTypes = {SHT_PROGBITS, SHT_PREINIT_ARRAY, SHT_INIT_ARRAY,
                                                   SHT_FINI_ARRAY};
  return (section.flags & SHF_ALLOC) != 0 && (section.flags & SHF_EXECINSTR) == 0 &&
         std::ranges::find(kTypes, section.type) != kTypes.end();
}

}  // namespace

DataWords::DataWords(const ElfFile& file) : file_(file), imports_(imported_functions(file)) {
  for_each_relative_pointer(
      file, [&](Address where, Address target) { pointers_.emplace(where, target); });
  // A file at a fixed address needs no relocations: its words are what they are.
  if (file.type() == ET_EXEC) {
    for (const ElfSection& section : file.sections()) {
      if (holds_data(section)) {
        read_words_of(section);
      }
    }
  }
}

void DataWords::read_words_of(const ElfSection& section) {
  const unsigned word = file_.pointer_size();
  const auto bytes = file_.contents(section);
  const AddressRange loaded = file_.load_range();
  const std::uint64_t first = (word - section.address % word) % word;
  for (std::uint64_t at = first; bytes && at + word <= bytes->size(); at += word) {
    const Address target = bytes->read_unsigned(at, word).value_or(0);
    if (loaded.contains(target)) {
      pointers_.emplace(section.address + at, target);
    }
  }
}

std::optional<Address> DataWords::pointer_at(Address where) const {
  const auto found = pointers_.find(where);
  return found == pointers_.end() ? std::nullopt : std::optional(found->second);
}

std::string_view DataWords::import_at(Address where) const {
  const auto found = imports_.find(where);
  return found == imports_.end() ? std::string_view() : found->second;
}

bool DataWords::is_zero(Address where) const {
  return !imports_.contains(where) && !pointers_.contains(where) &&
         file_.at(where).read_unsigned(0, file_.pointer_size()) == 0;
}

std::string_view DataWords::text_at(Address address, std::size_t limit) const {
  const ByteView bytes = file_.at(address);
  const std::string_view text(reinterpret_cast<const char*>(bytes.bytes().data()),
                              std::min(bytes.size(), limit));
  const std::size_t length = text.find('\0');
  return length == std::string_view::npos ? std::string_view() : text.substr(0, length);
}

}  // namespace whocall
