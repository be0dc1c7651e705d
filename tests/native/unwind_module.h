// Synthetic modules: ELF images with nothing in them but code ranges and unwind tables.
#pragma once

#include <elf.h>

#include <memory>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base_bytes.h"
#include "object/elf_file.h"

namespace whocall::test {

// Writes a .debug_frame (absolute addresses) entry by entry.
class FrameTable {
 public:
  explicit FrameTable(const Architecture& arch) : arch_(arch) {}

  // Returns the CIE's offset. `augmentation` may be "" or "zS" (a signal frame).
  std::uint64_t cie(const Bytes& program, std::string_view augmentation = {}) {
    Bytes body;
    body.u32(0xffffffff).u8(3).text(augmentation);
    body.uleb(1).sleb(-std::int64_t{arch_.abi.pointer_size}).uleb(arch_.registers.return_address);
    if (!augmentation.empty()) {
      body.uleb(0);
    }
    return entry(body.append(program));
  }
  // The usual beginning: CFA = sp + word, return address at CFA - word.
  std::uint64_t usual_cie() {
    return cie(Bytes()
                   .u8(0x0c)
                   .uleb(arch_.registers.sp)
                   .uleb(arch_.abi.pointer_size)
                   .u8(0x80U | arch_.registers.return_address)
                   .uleb(1));
  }
  void fde(std::uint64_t cie_offset, AddressRange range, const Bytes& program = {}) {
    Bytes body;
    body.u32(cie_offset);
    body.fixed(range.begin, arch_.abi.pointer_size).fixed(range.size(), arch_.abi.pointer_size);
    if (signal_cies_ == cie_offset + 1) {
      body.uleb(0);
    }
    entry(body.append(program));
  }
  // An FDE of a signal frame's CIE carries augmentation data.
  void signal_fde(std::uint64_t cie_offset, AddressRange range) {
    signal_cies_ = cie_offset + 1;
    fde(cie_offset, range);
    signal_cies_ = 0;
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  std::uint64_t entry(Bytes body) {
    const std::uint64_t offset = bytes_.size();
    body.align(4);
    bytes_.u32(body.size()).append(body);
    return offset;
  }

  const Architecture& arch_;
  Bytes bytes_;
  std::uint64_t signal_cies_ = 0;
};

struct ModuleParts {
  AddressRange code;  // link addresses
  Address entry = 0;
  Bytes debug_frame{};
};

// An ELF file of these parts, with section headers, in the architecture's class.
inline std::shared_ptr<const ElfFile> make_module(const Architecture& arch,
                                                  const ModuleParts& parts) {
  const unsigned word = arch.abi.pointer_size;
  const bool wide = word == 8;
  const unsigned header_size = wide ? 64 : 52;
  const unsigned segment_size = wide ? 56 : 32;
  const std::uint64_t frame_at = header_size + segment_size;
  const std::string_view names("\0.text\0.debug_frame\0.shstrtab\0", 30);
  const std::uint64_t names_at = frame_at + parts.debug_frame.size();
  const std::uint64_t sections_at = (names_at + names.size() + 7) / 8 * 8;

  Bytes file{0x7f, 'E', 'L', 'F', wide ? 2U : 1U, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  file.u16(ET_DYN).u16(arch.abi.elf_machine).u32(1);
  file.fixed(parts.entry, word).fixed(header_size, word).fixed(sections_at, word).u32(0);
  file.u16(header_size).u16(segment_size).u16(1).u16(wide ? 64 : 40).u16(4).u16(3);
  file.u32(PT_LOAD);
  if (wide) {
    file.u32(PF_R | PF_X);
  }
  file.fixed(0, word).fixed(parts.code.begin, word).fixed(parts.code.begin, word);
  file.fixed(0, word).fixed(parts.code.size(), word);
  if (!wide) {
    file.u32(PF_R | PF_X);
  }
  file.fixed(0x1000, word);
  file.append(parts.debug_frame);
  for (const char character : names) {
    file.u8(static_cast<unsigned char>(character));
  }
  file.align(8);
  const auto section = [&](unsigned name, unsigned type, unsigned flags, Address address,
                           std::uint64_t offset, std::uint64_t size) {
    file.u32(name).u32(type).fixed(flags, word).fixed(address, word).fixed(offset, word);
    file.fixed(size, word).u32(0).u32(0).fixed(1, word).fixed(0, word);
  };
  section(0, SHT_NULL, 0, 0, 0, 0);
  section(1, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, parts.code.begin, 0, parts.code.size());
  section(7, SHT_PROGBITS, 0, 0, frame_at, parts.debug_frame.size());
  section(20, SHT_STRTAB, 0, 0, names_at, names.size());
  return ElfFile::from_memory(file.get(), "synthetic");
}

}  // namespace whocall::test
