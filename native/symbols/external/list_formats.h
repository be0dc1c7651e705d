// The formats of lists of names. All readers take any bytes, skip lines that make no sense, take
// time linear in the text, and append to `list`; names point into `text` or into list.strings.
#pragma once

#include <string>
#include <string_view>

#include "symbols/external/listed_names.h"

namespace whocall {

// What `ld -Map` writes: GNU ld and gold; lld and mold.
void read_gnu_map(std::string_view text, ListedNames& list);
void read_lld_map(std::string_view text, ListedNames& list);

// nm in all its forms (-n, -S, -C, -P, -f sysv), System.map and /proc/kallsyms.
void read_nm_text(std::string_view text, ListedNames& list);
bool is_nm_row(std::string_view line);
// objdump -t and readelf -sW.
void read_symbol_dump(std::string_view text, ListedNames& list);

// https://chromium.googlesource.com/breakpad/breakpad/+/HEAD/docs/symbol_files.md
void read_breakpad(std::string_view text, ListedNames& list);

// Tables with a heading, as decompilers export them. Numbers are hexadecimal, but sizes only where
// one of them cannot be anything else.
void read_name_csv(std::string_view text, ListedNames& list);
// Whether a line is a heading that names a column of names and one of addresses.
bool is_csv_heading(std::string_view line);

// Objects that have a name and an address, wherever they stand. Returns what is wrong with the
// text, such as "ends within a string"; empty when it is JSON.
std::string read_name_json(std::string_view text, ListedNames& list);

}  // namespace whocall
