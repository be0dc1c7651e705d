// One ELF file, read over a mapping: header, segments, sections, notes. Works on files whose
// section headers are gone, through segments and the dynamic table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/abi.h"
#include "base/address.h"
#include "base/attachments.h"
#include "base/budget.h"
#include "base/byte_view.h"
#include "object/elf_parts.h"

namespace whocall {

class ElfFile {
 public:
  // Maps and parses `path`. Throws Error when it cannot be opened or is not a usable ELF file; a
  // truncated or damaged file is opened as far as its header goes, with `damage()` saying what is
  // missing.
  static std::shared_ptr<const ElfFile> open(const std::string& path);
  // Parses an image that was read from memory (the vDSO); `name` stands for the path in messages.
  // What it is a part of shares its budget.
  static std::shared_ptr<const ElfFile> from_memory(std::vector<std::byte> image,
                                                    const std::string& name,
                                                    Budget* whole = nullptr);
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile();

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::uint16_t type() const;  // ET_*
  [[nodiscard]] const ElfIdentity& identity() const;
  [[nodiscard]] std::uint16_t machine() const;  // EM_*
  [[nodiscard]] unsigned pointer_size() const;  // bytes, by the file's class
  [[nodiscard]] Endian endian() const;
  [[nodiscard]] Address entry() const;  // link address; 0 when there is none
  [[nodiscard]] ByteView bytes() const;
  // What is missing of a damaged file, as a sentence; empty when the file is whole.
  [[nodiscard]] const std::string& damage() const;

  [[nodiscard]] std::span<const ElfSegment> segments() const;
  [[nodiscard]] std::span<const ElfSection> sections() const;
  [[nodiscard]] const ElfSection* section(std::string_view name) const;
  // The section whose link address range holds `address` and that is loaded; null otherwise.
  [[nodiscard]] const ElfSection* section_at(Address address) const;

  // A section's bytes, decompressed when SHF_COMPRESSED (or .zdebug) says so; a miss for NOBITS,
  // for sections that lie outside the file and for damaged compressed data. Decompressed bytes are
  // kept, so views stay valid as long as the file.
  [[nodiscard]] std::optional<ByteView> contents(const ElfSection& section) const;

  // The file's bytes behind a link address, to the end of its segment's file part. Empty when no
  // PT_LOAD segment holds it.
  [[nodiscard]] ByteView at(Address address) const;

  // Notes of the loaded SHT_NOTE sections or, in cores and without sections, of all PT_NOTE
  // segments (a separate debug file's segments point nowhere).
  [[nodiscard]] std::vector<ElfNote> notes() const;
  // GNU build id as lower-case hex; empty when the file has none.
  [[nodiscard]] const std::string& build_id() const;
  // PT_INTERP's string; empty when there is none.
  [[nodiscard]] std::string interpreter() const;

  // The link address range from the first to the last byte of all PT_LOAD segments.
  [[nodiscard]] AddressRange load_range() const;

  // Parts that unwinding reads, found by section name, or by program header when the section
  // headers are gone (then .eh_frame reaches to the end of its segment).
  [[nodiscard]] std::optional<LoadedPart> eh_frame_hdr() const;
  [[nodiscard]] std::optional<LoadedPart> eh_frame() const;
  [[nodiscard]] std::optional<LoadedPart> debug_frame() const;

  // What reading the file may cost: everybody who reads of it draws from this.
  [[nodiscard]] Budget& budget() const;

  // What others found out about the file and keep with it; its own lock guards it.
  [[nodiscard]] Attachments& attachments() const;

 private:
  struct Data;
  explicit ElfFile(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

// The notes in `area` (contents of a PT_NOTE segment). `alignment` is 4, or 8 where p_align says
// so.
// Up to where the budget ends: of a file, notes of one place may be named again and again.
std::vector<ElfNote> parse_notes(ByteView area, std::uint64_t alignment, Budget& budget);
std::vector<ElfNote> parse_notes(ByteView area, std::uint64_t alignment);
// The GNU build id among a file's notes, as lower-case hex; empty when it has none.
std::string find_build_id(const ElfFile& file);

}  // namespace whocall
