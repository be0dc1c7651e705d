// A function, or what is known of one.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/address.h"

namespace whocall {

// Where a name (or, for fde and call_target, only the bounds of a function) comes from; best first.
enum class NameSource : std::uint8_t { symtab, dynsym, plt, bfd, fde, call_target, none };

// "symtab", "dynsym", "plt", "bfd", "fde", "call-target", "none": the word in JSON.
std::string_view to_string(NameSource source);

struct Symbol {
  AddressRange range;     // link addresses; empty when the symbol covers nothing
  std::string_view name;  // mangled; empty for a function known by its bounds only
  NameSource source = NameSource::none;
  bool global = false;  // global or weak binding
  bool weak = false;
  bool exact_end = true;  // the end comes from the symbol's own size, not from its neighbour
};

}  // namespace whocall
