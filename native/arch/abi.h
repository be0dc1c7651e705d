// What distinguishes an instruction set and its ABI in the header of an ELF file, and how it lays
// out words in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/byte_view.h"

namespace whocall {

// What the header of an ELF file says about the code in it.
struct ElfIdentity {
  std::uint16_t machine = 0;  // EM_*
  unsigned pointer_size = 8;  // bytes, by the class
  Endian endian = Endian::little;
  std::uint32_t flags = 0;  // e_flags
};

struct Abi {
  std::uint16_t elf_machine = 0;
  std::uint8_t pointer_size = 8;   // bytes, which the ELF class says as well
  Endian endian = Endian::little;  // of data and headers; decoders know that of instructions
  // Whether `e_flags` are of this ABI, where a machine has several of one class; null: any are.
  bool (*accepts)(std::uint32_t e_flags) = nullptr;
  // What the conventions of calls align the stack pointer to at every call.
  unsigned call_alignment = 16;  // bytes
  // Of integers of 8 bytes in structures and among arguments, bytes.
  std::uint8_t wide_alignment = 8;
  // What uname calls the machines that run its programs, in either byte order.
  std::span<const std::string_view> host_names{};
  std::string_view image_name{};  // in indices of container images; empty: none is known
  // IDA's number of the processor in FLIRT files; 255: those are not used.
  std::uint8_t flirt_processor = 255;

  [[nodiscard]] bool is_of(const ElfIdentity& file) const {
    return file.machine == elf_machine && file.pointer_size == pointer_size &&
           file.endian == endian && (accepts == nullptr || accepts(file.flags));
  }
};

}  // namespace whocall
