// Which instruction set it is, by the word of those who leave something open.
#pragma once

#include <cstddef>
#include <string_view>

#include "arch/architecture.h"

namespace whocall {

// What gdb says of a target. The name alone leaves the byte order and the ABI open where an
// instruction set has several: "mips:isa64r2".
struct GdbTarget {
  std::string_view name;  // what gdb's Architecture.name() says
  Endian endian = Endian::little;
  unsigned pointer_size = 8;   // bytes
  unsigned register_size = 8;  // of a general one, bytes
};

// Null when unknown.
const Architecture* architecture_of_gdb(const GdbTarget& target);

// That of programs with pointers of so many bytes where uname says `machine`; null when unknown.
const Architecture* architecture_of_host(std::string_view machine, unsigned pointer_size,
                                         Endian endian);

// That of a core whose first NT_PRSTATUS note has so many bytes; null when unknown.
//
// Situation: the header of a core often has no flags, whichever ABI its program is of. Example: the
// cores that Linux writes of n32 MIPS (the note has 440 bytes), which without flags look like o32
// (256 bytes). Remedy: of the ABIs of one machine, class and byte order the one whose note is as
// long; where none is, what the header says.
const Architecture* architecture_of_core(const ElfIdentity& header, std::size_t register_note_size);

}  // namespace whocall
