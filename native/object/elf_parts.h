// The parts of an ELF file, as its headers tell them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

struct ElfSegment {
  std::uint32_t type = 0;    // PT_*
  std::uint32_t flags = 0;   // PF_*
  std::uint64_t offset = 0;  // in the file, bytes
  Address address = 0;       // link address
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t alignment = 0;
};

struct ElfSection {
  std::string_view name;
  std::uint32_t index = 0;
  std::uint32_t type = 0;   // SHT_*
  std::uint64_t flags = 0;  // SHF_*
  Address address = 0;      // link address; 0 when not loaded
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t alignment = 0;
  std::uint64_t entry_size = 0;

  [[nodiscard]] AddressRange range() const { return {address, address + size}; }
};

struct ElfNote {
  std::string_view owner;  // "CORE", "GNU": without the NUL
  std::uint32_t type = 0;
  ByteView contents;
};

// A part of the file that the process sees at a link address (.eh_frame and its kin).
struct LoadedPart {
  ByteView bytes;
  Address address = 0;  // link address of the first byte; 0 for parts that are not loaded
};

}  // namespace whocall
