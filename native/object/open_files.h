// The ELF files that are open in this process, each once, and what others found out about them: two
// cores of one program read it, and look through it, once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/attachments.h"
#include "object/elf_file.h"

namespace whocall {

// The file at `path`: the same object for as long as the file on disk is the same (device, inode,
// size, times). Throws Error as ElfFile::open does.
//
// Files that were opened last stay open when nobody uses them any more, as long as they are few and
// small enough together: kMostKeptFiles, kMostKeptBytes. May be called from threads.
std::shared_ptr<const ElfFile> open_shared(const std::string& path);

// The same of files that may be PE files too, which are then as pe_file.h has them.
enum class Formats : std::uint8_t { elf, elf_and_pe };
std::shared_ptr<const ElfFile> open_shared(const std::string& path, Formats formats);

inline constexpr std::size_t kMostKeptFiles = 256;
inline constexpr std::uint64_t kMostKeptBytes = std::uint64_t{1} << 30U;  // of files

// Where what is known of a file is kept beside it; null for a file that open_shared() did not open,
// or that is no longer kept. What is attached may hold the file; the file holds nothing of it.
std::shared_ptr<Attachments> knowledge_of(const ElfFile& file);

// Forgets all files that nobody uses.
void close_kept_files();

}  // namespace whocall
