// What a list of names says, whatever its format is, before anybody has looked at the file that it
// is for.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/mapped_file.h"
#include "object/source_line.h"

namespace whocall {

struct ListedName {
  Address address = 0;          // as the list gives it: a link address plus the list's base
  std::uint64_t size = 0;       // bytes; 0 when the list does not say
  std::string_view name;        // mangled or demangled
  Address limit = ~Address{0};  // the function ends there at the latest
  bool global = false;
  bool weak = false;
};

struct ListedNames {
  std::string_view format;  // "a linker map": what the list was taken for
  std::vector<ListedName> names;
  // Whether the sizes are those of the symbol table. Those of decompilers are the sums of what they
  // take for the function's parts.
  bool exact_sizes = true;
  // Whether addresses count from the first loaded segment, as Breakpad's do.
  bool relative = false;
  std::optional<AddressRange> text{};        // where the list has the section .text
  std::string debug_id{};                    // of Breakpad; empty when there is none
  std::string module_name{};                 // likewise
  std::shared_ptr<const LineTable> lines{};  // by addresses of the list

  // Keeps names alive.
  std::shared_ptr<const MappedFile> file{};
  std::deque<std::string> strings{};
};

}  // namespace whocall
