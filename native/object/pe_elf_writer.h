// Writes a PE file as an ELF file, part by part.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_view.h"
#include "object/pe_headers.h"

namespace whocall {

class PeElfWriter {
 public:
  struct Symbol {
    std::string_view name;
    std::uint32_t address = 0;  // RVA
    std::uint32_t size = 0;     // bytes; 0 where nothing tells
    bool is_code = false;
    bool is_global = false;
  };

  // The first `kept` bytes keep their offsets, but for the first 64, where ELF's header stands.
  PeElfWriter(const PeHeaders& headers, ByteView bytes, std::uint64_t kept);

  // A section that the process does not see.
  void add_part(std::string_view name, std::span<const std::byte> contents);
  // A section of the PE file, with a segment where it is loaded.
  void add_section(const PeSection& section, bool loaded);
  // SHT_SYMTAB or SHT_DYNSYM, with its strings.
  void add_symbols(std::uint32_t type, const std::vector<Symbol>& symbols);
  std::vector<std::byte> finish() &&;

 private:
  struct Part {
    std::uint32_t name = 0;  // in names_
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t link = 0;
    std::uint64_t entry_size = 0;
  };
  struct Segment {
    std::uint32_t flags = 0;
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    std::uint64_t file_size = 0;
    std::uint64_t memory_size = 0;
  };

  Part& add(std::string_view name, std::uint32_t type);
  void append(const void* bytes, std::size_t size);
  void align();
  template <typename Header, typename ProgramHeader, typename SectionHeader>
  void write_headers();
  template <typename Row>
  void append_symbol(const Symbol& symbol, std::uint32_t name);
  [[nodiscard]] std::uint16_t section_of(std::uint32_t address) const;

  const PeHeaders& headers_;
  std::uint64_t kept_;
  std::vector<std::byte> out_;
  std::string names_ = std::string(1, '\0');
  std::vector<Part> parts_;
  std::vector<Segment> segments_;
};

}  // namespace whocall
