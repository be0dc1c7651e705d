// Files and lists that lend names to another file.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "object/elf_file.h"
#include "symbols/table/name_list.h"

namespace whocall {

// Of the same build, with the same link addresses. Only its .symtab and .debug_frame say anything:
// all that is loaded has been taken out of it.
struct Companion {
  std::shared_ptr<const ElfFile> file;
  NameSource source = NameSource::none;  // of its names
};

struct Companions {
  std::vector<Companion> files;
  std::vector<NameList> lists;
  std::string remark;  // why one that was there lends no names, a sentence; empty otherwise

  // The path of the separate debug file; empty when there is none.
  [[nodiscard]] std::string debug_file() const {
    const auto found = std::ranges::find(files, NameSource::debug_file, &Companion::source);
    return found == files.end() ? std::string() : found->file->path();
  }
};

}  // namespace whocall
