#include "symbols/inferred/python_owners.h"

#include <algorithm>
#include <array>

#include "object/elf_imports.h"
#include "object/elf_symbols.h"

namespace whocall {
namespace {

// Of PyTypeObject, in words.
constexpr std::uint64_t kTypeName = 3;
constexpr std::uint64_t kBasicSize = 4;
constexpr std::uint64_t kItemSize = 5;
constexpr std::uint64_t kTypeMethods = 29;
constexpr std::uint64_t kMostSize = 1U << 20U;  // bytes of an object
struct TypeSlot {
  std::uint64_t place = 0;  // words
  std::string_view name;
};
constexpr std::array<TypeSlot, 20> kTypeSlots = {
    {{6, "tp_dealloc"},   {8, "tp_getattr"},   {9, "tp_setattr"},    {11, "tp_repr"},
     {15, "tp_hash"},     {16, "tp_call"},     {17, "tp_str"},       {18, "tp_getattro"},
     {19, "tp_setattro"}, {23, "tp_traverse"}, {24, "tp_clear"},     {25, "tp_richcompare"},
     {27, "tp_iter"},     {28, "tp_iternext"}, {34, "tp_descr_get"}, {35, "tp_descr_set"},
     {37, "tp_init"},     {38, "tp_alloc"},    {39, "tp_new"},       {40, "tp_free"}}};

// Of PyModuleDef, in words.
constexpr std::uint64_t kModuleName = 5;
constexpr std::uint64_t kModuleMethods = 8;

}  // namespace

PythonOwners::PythonOwners(const ElfFile& file, const DataWords& words, const RecordWords& records)
    : file_(file), records_(records) {
  const std::uint64_t word = records.word();
  for (const DataPointer& each : words.pointers()) {
    if (each.where < kTypeMethods * word || records.text_at(each.target) == nullptr) {
      continue;  // the first word of a table of methods is a name
    }
    const Address type = each.where - kTypeMethods * word;
    const std::string_view* name = records.text_at(type + kTypeName * word);
    if (name != nullptr && is_registered_name(*name)) {
      owners_.emplace_back(each.target, *name);
      read_type(type);
    }
    const std::string_view* module =
        records.text_at(each.where - (kModuleMethods - kModuleName) * word);
    if (module != nullptr && is_registered_name(*module)) {
      owners_.emplace_back(each.target, *module);
    }
  }
  std::ranges::sort(owners_);
}

// Every slot is a function of the file, or is filled when the type is made ready.
void PythonOwners::read_type(Address type) {
  const std::uint64_t word = records_.word();
  const auto size_at = [&](std::uint64_t place) {
    return file_.at(type + place * word).read_unsigned(0, records_.word()).value_or(kMostSize);
  };
  const bool is_type = size_at(kBasicSize) < kMostSize && size_at(kItemSize) < kMostSize &&
                       std::ranges::all_of(kTypeSlots, [&](const TypeSlot& slot) {
                         const Address where = type + slot.place * word;
                         return records_.code_at(where) != 0 || records_.is_open(where);
                       });
  const std::string_view* name = records_.text_at(type + kTypeName * word);
  for (const TypeSlot& slot : kTypeSlots) {
    const Address function = records_.code_at(type + slot.place * word);
    if (is_type && function != 0) {
      slots_.emplace_back(function, std::string(*name) + "." + std::string(slot.name));
    }
  }
}

std::string_view PythonOwners::owner_of(Address table) const {
  const auto key = &std::pair<Address, std::string_view>::first;
  const auto first = std::ranges::lower_bound(owners_, table, {}, key);
  const auto last = std::ranges::upper_bound(owners_, table, {}, key);
  return last - first == 1 ? first->second : std::string_view();
}

}  // namespace whocall
