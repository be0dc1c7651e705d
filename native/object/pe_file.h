// PE files (.exe and .dll of Windows) as ELF files, which is what all that looks at modules reads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/byte_view.h"
#include "object/elf_file.h"

namespace whocall {

// The section of such a file that holds the headers of the PE file.
inline constexpr std::string_view kPeHeadersSection = ".whocall.pe";

// Whether the bytes begin as those of PE files do.
bool is_pe(ByteView bytes);

// The file written as ELF: of type ET_DYN, with its sections at the addresses that it was linked
// for (the image base and the RVA) and at their offsets; what it exports as .dynsym, its other
// symbols as .symtab, what .pdata and .xdata tell as .eh_frame. `loaded`: the bytes are those of an
// image in memory, from its first byte on. Throws Error where it is no PE file of x86-64 or i386.
std::shared_ptr<const ElfFile> elf_of_pe(ByteView bytes, bool loaded, const std::string& name,
                                         Budget* whole = nullptr);

// Maps and parses a PE file. Throws Error.
std::shared_ptr<const ElfFile> open_pe(const std::string& path);

// Its PE headers; empty where it was none.
ByteView pe_headers_of(const ElfFile& file);

// Whether functions of the file hand over arguments as Windows has it.
bool calls_as_windows(const ElfFile& file);

}  // namespace whocall
