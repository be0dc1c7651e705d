// The std::type_info objects of a file's classes: they survive strip, names included.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "object/elf_file.h"
#include "symbols/discovery/data_words.h"

namespace whocall {

struct TypeInfo {
  std::string_view name;       // mangled, without the prefix "_ZTS"
  std::vector<Address> bases;  // type infos of the direct bases that this file defines
};

// By link address. Itanium C++ ABI, 2.9.4 "RTTI Layout": a type info of a class is the address of
// the virtual table of __class_type_info, __si_class_type_info or __vmi_class_type_info behind its
// first two words, then the name's address, then the bases. An object counts only when its first
// word is bound to one of these three by name or, in static programs, leads to a type info that
// bears the name of one.
std::unordered_map<Address, TypeInfo> type_infos(const ElfFile& file, const DataWords& words);

}  // namespace whocall
