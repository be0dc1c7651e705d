// The frame descriptors of OCaml's compiler, and what their debuginfo says: see ocaml_names.h.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "object/elf_file.h"
#include "object/source_line.h"

namespace whocall {

struct OcamlFrame {
  Address where = 0;       // link address of the descriptor
  Address debug_info = 0;  // likewise; 0: none
  Address returns_to = 0;  // link address of the code behind the call
};

// How debuginfo packs lines and columns: nothing in a program tells its compiler's version.
enum class OcamlFormat : std::uint8_t { ocaml411, ocaml502 };

// The descriptor at `where`, without the address that it returns to; `next` receives the place
// behind it. A miss where it does not lie in the file.
std::optional<OcamlFrame> read_ocaml_frame(const ElfFile& file, Address where, Address& next);

// Appends those descriptors of the table at `table` that have debuginfo, in their order. Returns
// the link address behind what was read.
Address append_ocaml_frames(const ElfFile& file, Address table, std::vector<OcamlFrame>& frames);

// The format that all of `frames` agree on; a miss where they leave it open.
std::optional<OcamlFormat> ocaml_format(const ElfFile& file, std::span<const OcamlFrame> frames);

// Innermost inlined call first; empty where the debuginfo is damaged.
std::vector<SourceLine> ocaml_places(const ElfFile& file, Address debug_info, OcamlFormat format);

}  // namespace whocall
