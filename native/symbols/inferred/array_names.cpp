#include "symbols/inferred/array_names.h"

#include <elf.h>

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "object/elf_dynamic.h"
#include "symbols/discovery/data_words.h"

namespace whocall {
namespace {

constexpr std::uint64_t kMostSlots = 1U << 16U;  // more than any program has constructors

struct Array {
  std::string_view section;
  std::uint64_t address_tag;
  std::uint64_t size_tag;
};

constexpr Array kArrays[] = {
    {".preinit_array", DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ},
    {".init_array", DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
    {".fini_array", DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
};

// By the dynamic table, which the loader goes by; static files have the section alone.
std::optional<AddressRange> place_of(const ElfFile& file, const Array& array) {
  const ElfDynamic dynamic(file);
  const auto address = dynamic.value(array.address_tag);
  const auto size = dynamic.value(array.size_tag);
  if (address && size && *address + *size >= *address) {
    return AddressRange{*address, *address + *size};
  }
  const ElfSection* section = file.section(array.section);
  return section != nullptr ? std::optional(section->range()) : std::nullopt;
}

}  // namespace

void infer_array_names(const NameEvidence& evidence, std::vector<InferredName>& names) {
  std::vector<AddressRange> ranges;
  for (const Array& array : kArrays) {
    ranges.push_back(place_of(evidence.file, array).value_or(AddressRange{}));
  }
  const std::vector<DataPointer> pointers = data_pointers(evidence.file, ranges);
  const std::uint64_t word = evidence.file.pointer_size();
  std::map<Address, std::string> found;  // empty: in two places
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (const DataPointer& slot : pointers) {
      const std::uint64_t number = (slot.where - ranges[i].begin) / word;
      if (!ranges[i].contains(slot.where) || (slot.where - ranges[i].begin) % word != 0 ||
          number >= kMostSlots) {
        continue;
      }
      const auto [name, first] =
          found.try_emplace(slot.target, std::string(kArrays[i].section.substr(1)) + "[" +
                                             std::to_string(number) + "]");
      if (!first) {
        name->second.clear();
      }
    }
  }
  for (auto& [function, name] : found) {
    if (!name.empty()) {
      names.push_back({function, std::move(name), NameSource::initializer});
    }
  }
}

}  // namespace whocall
