// What the kernel (or gdb's gcore, or qemu-user) writes about a process into its core.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"
#include "process/auxiliary_vector.h"
#include "process/core/own_notes.h"
#include "process/process_image.h"

namespace whocall {

// A row of NT_FILE.
struct MappedFileNote {
  AddressRange range;        // runtime addresses
  std::uint64_t offset = 0;  // in the file, bytes
  std::string path;
};

struct CoreNotes {
  std::vector<Thread> threads;        // in the order of the core
  std::vector<MappedFileNote> files;  // in the order of the note
  std::vector<ToldModule> modules;    // of whocall's own note, in its order
  std::vector<ElfSegment> segments;   // likewise, of the core that this one was made of
  bool partial_map = false;           // by whocall's own note: the mappings were not told
  std::uint64_t signature_bits = 0;   // of code pointers; 0: nothing is said of them
  AuxiliaryVector auxiliary;
  bool has_auxiliary = false;
  std::int64_t pid = 0;
  std::string name;          // pr_fname: the program's short name, at most 15 characters
  CommandLine command_line;  // pr_psargs, which the kernel cuts off at 79 characters
  std::vector<std::string> warnings;
};

// Notes that are cut off or too small are left out, with a warning where a thread is lost.
CoreNotes read_core_notes(std::span<const ElfNote> notes, const Architecture& arch);

// Registers by the architecture's layout; `bytes` begin with pr_reg. What does not fit is unknown.
Registers decode_registers(ByteView bytes, const Architecture& arch);

// Of the first thread's NT_PRSTATUS, bytes; 0 when there is none.
std::size_t register_note_size(std::span<const ElfNote> notes);

// NT_FILE: a count, a page size, the rows, then as many names.
std::vector<MappedFileNote> parse_file_note(ByteView contents, unsigned pointer_size);

}  // namespace whocall
