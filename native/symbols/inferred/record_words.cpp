#include "symbols/inferred/record_words.h"

#include <elf.h>

#include <algorithm>

#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

constexpr std::size_t kLongestText = 4096;  // bytes that are looked at; documentation among them

bool is_printable(std::string_view text) {
  return std::ranges::all_of(
      text, [](char each) { return (each >= ' ' && each <= '~') || each == '\n' || each == '\t'; });
}

}  // namespace

RecordWords::RecordWords(const ElfFile& file, const Architecture& arch, const DataWords& words)
    : words_(words), word_(file.pointer_size()) {
  const std::vector<AddressRange> areas = code_areas(file);
  const auto is_code = [&](Address address) {
    return std::ranges::any_of(areas,
                               [&](const AddressRange& each) { return each.contains(address); });
  };
  std::vector<AddressRange> initializers;
  for (const ElfSection& each : file.sections()) {
    if (each.type >= SHT_INIT_ARRAY && each.type <= SHT_PREINIT_ARRAY) {
      initializers.push_back(each.range());
    }
  }
  const auto is_initializer = [&](Address where) {
    return std::ranges::any_of(initializers,
                               [&](const AddressRange& each) { return each.contains(where); });
  };
  for (const DataPointer& each : words.pointers()) {
    if (each.where % word_ != 0 || is_initializer(each.where)) {
      continue;
    }
    if (is_code(each.target)) {
      const Address code = arch.code_address(each.target);  // T32 has a mark in its pointers
      counts_[code] += code_.emplace(each.where, code).second ? 1 : 0;
      continue;
    }
    const std::string_view text = words.text_at(each.target, kLongestText);
    if (!text.empty() && is_printable(text)) {
      texts_.emplace(each.where, text);
      places_.push_back(each.where);
    }
  }
}

const std::string_view* RecordWords::text_at(Address where) const {
  const auto found = texts_.find(where);
  return found == texts_.end() ? nullptr : &found->second;
}

Address RecordWords::code_at(Address where) const {
  const auto found = code_.find(where);
  return found == code_.end() ? 0 : found->second;
}

std::size_t RecordWords::count_of(Address code) const {
  const auto found = counts_.find(code);
  return found == counts_.end() ? 0 : found->second;
}

RecordWords::Kind RecordWords::kind_at(Address where) const {
  if (code_.contains(where)) {
    return Kind::code;
  }
  if (words_.pointer_at(where)) {
    return Kind::data;
  }
  return is_open(where) ? Kind::zero : Kind::number;
}

bool RecordWords::is_open(Address where) const {
  return words_.is_zero(where) || !words_.import_at(where).empty();
}

}  // namespace whocall
