// What a Go program tells of itself: where its function table lies, and what that hangs on.
#pragma once

#include <optional>
#include <string>

#include "golang/go_pclntab.h"
#include "object/elf_file.h"

namespace whocall {

struct GoProgram {
  GoPclntab table;
  // The link address that the offsets of inlining trees count from; 0 where none was proved.
  Address inline_base = 0;
};

// A miss where `file` is no Go program, or its table is damaged; then `remark`, if it is given,
// receives a sentence. Views into the file: it must outlive them.
std::optional<GoProgram> find_go_program(const ElfFile& file, std::string* remark = nullptr);

}  // namespace whocall
