// One function of a table or of an object that a decompiler or a script exported: which columns and
// keys tell its name, address and size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "symbols/external/listed_names.h"

namespace whocall {

// What a column or a key holds.
struct NameColumn {
  enum class Kind : std::uint8_t { name, address, size, end, type, origin, none };
  Kind kind = Kind::none;
  unsigned rank = 0;  // of several columns of one kind the one with the lowest rank counts
};

// By its heading, of which only the letters count, in either case: "Function Size", "start_ea".
NameColumn name_column(std::string_view heading);

// "0x1136", "ram:00001136", "1136h"; a miss for "EXTERNAL:00000001" and other text.
std::optional<Address> exported_address(std::string_view text);

// Whether the words in columns `type` and `origin` tell of a function that somebody named: a miss
// are Ghidra's data labels, thunks and names by default; an empty word says nothing.
bool is_named_function(std::string_view type, std::string_view origin);

// Folklore. Situation: tools give functions without a name one that is made from the address, and
// export it like any other. Example: FUN_00101136 (Ghidra), sub_1136 (IDA, Binary Ninja),
// fcn.00001136 (radare2), thunk_FUN_00101136, j_puts, nullsub_1. Remedy: such names are none.
// `address` is the one that the list gives.
bool is_made_up(std::string_view name, Address address);

}  // namespace whocall
