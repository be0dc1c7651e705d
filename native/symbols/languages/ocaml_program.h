// What a program of OCaml's tells of the places that its calls return to, all of it.
#pragma once

#include <optional>
#include <vector>

#include "object/elf_file.h"
#include "symbols/languages/ocaml_frames.h"

namespace whocall {

struct OcamlProgram {
  std::vector<OcamlFrame> frames;  // those with debuginfo, by where calls return to
  std::optional<OcamlFormat> format;
};

// How its tables are found, if it is a program of OCaml's at all.
enum class OcamlTables : std::uint8_t {
  none,
  named,     // to the loader, as ocamlopt has every program linked
  searched,  // a static program, without any names
};

// At no cost.
OcamlTables ocaml_tables(const ElfFile& file);

OcamlProgram read_ocaml_program(const ElfFile& file, OcamlTables tables);

}  // namespace whocall
