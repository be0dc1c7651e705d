// The headers of a PE file (.exe and .dll of Windows), as it lies on disk or in memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_view.h"

namespace whocall {

// Addresses in PE files are relative to where the file is loaded: "RVA", bytes.
struct PeSection {
  std::string name;
  std::uint32_t address = 0;       // RVA
  std::uint32_t virtual_size = 0;  // bytes in memory; 0 where the linker left it out
  std::uint32_t offset = 0;        // in the file, bytes
  std::uint32_t raw_size = 0;      // bytes in the file
  std::uint32_t flags = 0;         // IMAGE_SCN_*

  [[nodiscard]] std::uint32_t memory_size() const {
    return virtual_size != 0 ? virtual_size : raw_size;
  }
  // Of the file's bytes those that are mapped.
  [[nodiscard]] std::uint32_t file_size() const {
    return raw_size < memory_size() ? raw_size : memory_size();
  }
  [[nodiscard]] bool is_code() const { return (flags & 0x20000000U) != 0; }
  [[nodiscard]] bool is_writable() const { return (flags & 0x80000000U) != 0; }
};

struct PeDirectory {
  std::uint32_t address = 0;  // RVA; 0 where there is none
  std::uint32_t size = 0;     // bytes
};

struct PeHeaders {
  std::uint16_t machine = 0;  // IMAGE_FILE_MACHINE_*
  bool wide = false;          // PE32+
  bool system_v = false;      // its code calls as Linux does, other than Windows
  std::uint64_t image_base = 0;
  std::uint32_t image_size = 0;    // bytes in memory, headers included
  std::uint32_t headers_size = 0;  // bytes of the file before the first section
  std::uint32_t entry = 0;         // RVA
  std::uint64_t base_field = 0;    // where the file keeps image_base, which loaders write to
  std::uint32_t symbols_offset = 0;
  std::uint32_t symbol_count = 0;
  PeDirectory exports;
  PeDirectory exceptions;
  std::vector<PeSection> sections;
};

inline constexpr std::uint16_t kPeI386 = 0x14c;
inline constexpr std::uint16_t kPeX8664 = 0x8664;
// What .NET's compiler for code ahead of time changes the machine by in files made for Linux.
inline constexpr std::uint16_t kPeForLinux = 0x7b79;

// A miss where the bytes do not begin with the headers of a PE file of one of these two.
std::optional<PeHeaders> read_pe_headers(ByteView bytes);

// A PE file's bytes by RVA.
class PeBytes {
 public:
  // `loaded`: the bytes lie as in memory, and not as on disk. References must outlive it.
  PeBytes(ByteView bytes, const PeHeaders& headers, bool loaded)
      : bytes_(bytes), headers_(headers), loaded_(loaded) {}

  // From the address on to the end of what its section has in the file; empty outside of all.
  [[nodiscard]] ByteView at(std::uint32_t address) const;
  [[nodiscard]] ByteView all() const { return bytes_; }
  [[nodiscard]] bool loaded() const { return loaded_; }

 private:
  ByteView bytes_;
  const PeHeaders& headers_;
  bool loaded_;
};

}  // namespace whocall
