// ELF files that lie whole inside another file. Example: Android's dynamic linker maps libraries
// right out of an application's package (base.apk), a zip archive that stores them as they are, at
// whole pages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "object/elf_file.h"

namespace whocall {

// The ELF file that begins at byte `offset` of the file at `path`, named "PATH!NAME" by the
// archive's entry, else by what the library calls itself. Its bytes are copied, for which it draws
// from `budget`. Null when there is none; never throws but on Ctrl-C.
std::shared_ptr<const ElfFile> open_embedded(const std::string& path, std::uint64_t offset,
                                             Budget& budget);

// Where such a file begins in the one around it; 0 for all other files.
std::uint64_t offset_in_container(const ElfFile& file);

// Its name in there; empty for all other files.
std::string name_in_container(const ElfFile& file);

// What it is called with it, "PATH!NAME", as Android does; the path where there is no name.
std::string path_in_container(const std::string& path, const std::string& name);

// Whether a path is that of an archive by its ending, which may hold many files.
bool is_archive_name(std::string_view path);

}  // namespace whocall
