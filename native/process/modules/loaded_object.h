// What the mappings of a process say of its modules, before any file was looked for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "memory/memory.h"
#include "process/modules/loaded_elf.h"
#include "process/process_image.h"

namespace whocall {

// What a machine's pages may have, bytes: 16 and 64 KiB are common where AArch64 is.
inline constexpr std::array<std::uint64_t, 3> kPageSizes = {4096, 16384, 65536};

// A part of a file that is mapped.
struct MappedPiece {
  AddressRange range;        // runtime addresses
  std::uint64_t offset = 0;  // in the file, bytes
  bool executable = false;
  bool guessed = false;  // the protection is not known
  bool writable = false;
};

// A loading of a PE file (pe_objects.h).
struct PePlace {
  AddressRange range;              // runtime addresses
  std::vector<std::byte> headers;  // as they lie in memory; empty where they cannot be read
};

// One loading of one file: something that becomes a module when it turns out to be ELF.
struct LoadedObject {
  std::string path;                 // as the process names it; may be empty
  std::vector<MappedPiece> pieces;  // sorted; empty where no source names mapped files
  std::optional<LoadedElf> image;   // when its headers can be read from memory
  std::optional<PePlace> pe;        // when it is no ELF file, but one of Windows
  std::optional<Address> bias;      // where a source other than the image tells it
  std::optional<Address> dynamic;   // runtime address of the dynamic table, by the linker's list
  std::optional<Address> begin;     // runtime address of its first byte, by a dump's list
  std::string build_id;             // by a dump's list: lower-case hex
  AddressRange by_file;             // by its file or its dynamic table, where nothing else tells
  bool is_program = false;          // the main program
  bool is_vdso = false;

  // Runtime addresses; empty when nothing tells.
  [[nodiscard]] AddressRange range() const;
};

// The objects of all mappings that name a file, sorted by address. A file that was loaded twice
// yields two objects, and pages of it that lie apart none. Files that are merely read (locales,
// fonts) are left out as far as the mappings tell; what the budget has no room for is, too.
std::vector<LoadedObject> group_mappings(std::span<const Mapping> mappings, const Memory& memory,
                                         const Architecture& arch, Budget& budget);

// The bias at which a file's PT_LOAD segments explain most pieces and where each executable segment
// begins and ends where pieces do, to the page. A miss when there is none: then it is not this
// file that was mapped.
std::optional<Address> bias_of_pieces(std::span<const ElfSegment> segments,
                                      std::span<const MappedPiece> pieces);

// The same of a file, which may lie in another one: what is mapped of it has that one's offsets.
std::optional<Address> bias_of_pieces(const ElfFile& file, std::vector<MappedPiece> pieces);

// Whether all code of a file that was loaded at `bias` lies in mappings that can be executed, as
// far as mappings are there at all: many dumpers leave out those of files.
bool code_is_executable(std::span<const ElfSegment> segments, Address bias,
                        std::span<const Mapping> mappings);

}  // namespace whocall
