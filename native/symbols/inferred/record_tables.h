// Tables of records of one size in a file's data, each with a text and a function: how programs
// register what they can do by name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/inferred/record_words.h"

namespace whocall {

struct RecordRow {
  std::string_view text;  // lives as long as the file
  Address function = 0;   // link address; 0: the row has none
};

struct RecordTable {
  Address begin = 0;        // of the first row's text pointer, link address
  std::uint64_t size = 0;   // of a record, bytes
  std::int64_t offset = 0;  // from the text pointer to the function pointer, bytes
  std::vector<RecordRow> rows{};
  bool has_names = false;     // whether its texts are names mostly
  std::size_t functions = 0;  // how many rows have one
  std::size_t number = 0;     // in the order in which they are found
};

// "sort", "client|list", "bracketed-paste": what people call functions, and no sentence.
bool is_registered_name(std::string_view text);

// All such tables. Source of the idea: what editors of binaries do by hand.
//
// Folklore. Situation: pairs of a text and a function can be read from one record or across two of
// them. Example: {"a", f}, {"b", g}, where f stands just before "b". Remedy: read wrongly, a table
// has a function left over before its first text or behind its last one; of what has, nothing is
// said, unless zeros in place of a record behind it tell where records begin. Situation: records
// with two texts that may be names, such as a long and a short one. Remedy: nothing is said of them
// either. Situation: words of several tables, one behind the other, lie as if they were of one.
// Remedy: the words of a record are of one kind in all of them, and of tables that share words the
// one with the smallest records is right, also where its texts are no names: {"new", f}, {"(+", g},
// as Perl has them, is no table of larger records with f and g. Situation: a table whose last rows
// have no function can be read with each function beside the text before it or behind it. Example:
// Lua's {"_G", NULL}. Remedy: text first, as nearly all are written, where zeros follow; or else
// nothing is said, as of {NULL, "a"}, {f, "b"}.
std::vector<RecordTable> record_tables(const RecordWords& words);

}  // namespace whocall
