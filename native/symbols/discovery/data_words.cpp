#include "symbols/discovery/data_words.h"

#include <elf.h>

#include <algorithm>
#include <array>

#include "base/sort_by_address.h"
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

void append_words_of(const ElfSection& section, const ElfFile& file,
                     std::vector<DataPointer>& pointers) {
  const unsigned word = file.pointer_size();
  const auto bytes = file.contents(section);
  const AddressRange loaded = file.load_range();
  const std::uint64_t first = (word - section.address % word) % word;
  for (std::uint64_t at = first; bytes && at + word <= bytes->size(); at += word) {
    const Address target = bytes->read_unsigned(at, word).value_or(0);
    if (loaded.contains(target)) {
      pointers.push_back({section.address + at, target});
    }
  }
}

constexpr std::array kEverything = {AddressRange{0, ~Address{0}}};

}  // namespace

std::vector<DataPointer> data_pointers(const ElfFile& file, std::span<const AddressRange> wanted) {
  std::vector<DataPointer> pointers;
  const auto is_wanted = [&](Address where) {
    return std::ranges::any_of(wanted,
                               [&](const AddressRange& each) { return each.contains(where); });
  };
  for_each_relative_pointer(file, [&](Address where, Address target) {
    if (is_wanted(where)) {
      pointers.push_back({where, target});
    }
  });
  // A file at a fixed address needs no relocations: its words are what they are.
  if (file.type() == ET_EXEC) {
    for (const ElfSection& section : file.sections()) {
      const AddressRange range = section.range();
      const bool overlaps = std::ranges::any_of(wanted, [&](const AddressRange& each) {
        return each.begin < range.end && range.begin < each.end;
      });
      if (holds_data(section) && overlaps) {
        append_words_of(section, file, pointers);
      }
    }
    std::erase_if(pointers, [&](const DataPointer& each) { return !is_wanted(each.where); });
  }
  // What relocations tell goes before what stands in the file; linkers leave them in order.
  sort_by_address(pointers, [](const DataPointer& each) { return each.where; });
  const auto is_same = [](const DataPointer& left, const DataPointer& right) {
    return left.where == right.where;
  };
  pointers.erase(std::unique(pointers.begin(), pointers.end(), is_same), pointers.end());
  return pointers;
}

std::vector<Address> pointed_to(const ElfFile& file, std::span<const AddressRange> wanted) {
  std::vector<Address> targets;
  const auto put = [&](Address target) {
    if (std::ranges::any_of(wanted,
                            [&](const AddressRange& each) { return each.contains(target); })) {
      targets.push_back(target);
    }
  };
  for_each_relative_pointer(file, [&](Address, Address target) { put(target); });
  if (file.type() == ET_EXEC) {
    std::vector<DataPointer> pointers;
    for (const ElfSection& section : file.sections()) {
      if (holds_data(section)) {
        append_words_of(section, file, pointers);
      }
    }
    std::ranges::for_each(pointers, put, &DataPointer::target);
  }
  sort_by_address(targets, [](Address target) { return target; });
  return targets;
}

DataWords::DataWords(const ElfFile& file)
    : file_(file),
      imports_(imported_functions(file)),
      pointers_(data_pointers(file, kEverything)) {}

std::optional<Address> DataWords::pointer_at(Address where) const {
  if (pointers_.empty() || where < pointers_.front().where || where > pointers_.back().where) {
    return std::nullopt;  // mostly an address in the code, of millions of questions
  }
  const auto found = std::ranges::lower_bound(pointers_, where, {}, &DataPointer::where);
  return found != pointers_.end() && found->where == where ? std::optional(found->target)
                                                           : std::nullopt;
}

std::string_view DataWords::import_at(Address where) const {
  const auto found = imports_.find(where);
  return found == imports_.end() ? std::string_view() : found->second;
}

bool DataWords::is_zero(Address where) const {
  return !imports_.contains(where) && !pointer_at(where) &&
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
