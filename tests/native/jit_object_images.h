// A process in which a JIT compiler has registered ELF files, written field by field.
#pragma once

#include <elf.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"
#include "memory/segment_memory.h"
#include "object_elf_images.h"
#include "process/process_image.h"

namespace whocall::test {

inline constexpr Address kJitCode = 0x70000000;    // executable, of no file
inline constexpr Address kJitFrames = 0x70010000;  // where .eh_frame is loaded
inline constexpr Address kDescriptor = 0x401000;   // of the module at 0x400000

inline testing::SectionText part(std::string name, std::uint32_t type, std::uint64_t flags,
                                 Address address, const Bytes& contents) {
  testing::SectionText section{std::move(name), {}, contents.get()};
  section.header.sh_type = type;
  section.header.sh_flags = flags;
  section.header.sh_addr = address;
  return section;
}

// Symbols with their names; the string table is to be the section behind.
struct SymbolParts {
  Bytes entries = Bytes().fill(sizeof(Elf64_Sym), 0);
  Bytes names{0};

  SymbolParts& add(std::string_view name, unsigned type, unsigned section, std::uint64_t value,
                   std::uint64_t size, unsigned binding = STB_GLOBAL) {
    entries.u32(names.size()).u8(ELF64_ST_INFO(binding, type)).u8(0).u16(section);
    entries.u64(value).u64(size);
    names.text(name);
    return *this;
  }
  // The two sections, of which the first gets the number `index`.
  void append_to(std::vector<testing::SectionText>& sections) const {
    auto table = part(".symtab", SHT_SYMTAB, 0, 0, entries);
    table.header.sh_link = static_cast<Elf64_Word>(sections.size() + 2);
    sections.push_back(table);
    sections.push_back(part(".strtab", SHT_STRTAB, 0, 0, names));
  }
};

inline std::vector<std::byte> elf_of(std::uint16_t type,
                                     std::vector<testing::SectionText> sections) {
  auto image = testing::image_with(std::move(sections));
  testing::put(image, offsetof(Elf64_Ehdr, e_type), type);
  return image;
}

// An object with .text (section 1) of 0x100 bytes at kJitCode and two functions, "low" at 0 and
// "high" at 0x40; `more` stands behind, from section 2 on.
inline std::vector<std::byte> usual_object(std::uint16_t type,
                                           std::vector<testing::SectionText> more = {}) {
  std::vector<testing::SectionText> sections;
  sections.push_back(
      part(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kJitCode, Bytes().fill(0x100, 0xcc)));
  for (auto& each : more) {
    sections.push_back(std::move(each));
  }
  const Address base = type == ET_REL ? 0 : kJitCode;
  SymbolParts()
      .add("high", STT_FUNC, 1, base + 0x40, 0)
      .add("low", STT_FUNC, 1, base, 0x20)
      .add("datum", STT_OBJECT, 1, base + 0x80, 8)
      .append_to(sections);
  return elf_of(type, std::move(sections));
}

class JitProcess {
 public:
  JitProcess() { map(kJitCode, Bytes().fill(0x1000, 0xcc).get()); }

  void map(Address begin, std::vector<std::byte> bytes) { regions_[begin] = std::move(bytes); }

  // Puts a file into memory and its entry to the front of the list. Returns the entry's address.
  Address add(const std::vector<std::byte>& file) {
    const Address address = 0x20000000 + 0x100000 * files_++;
    map(address, file);
    return add_entry(address, file.size());
  }
  Address add_entry(Address file, std::uint64_t size) {
    const Address entry = 0x10000000 + 0x100 * entries_++;
    map(entry, Bytes().u64(first).u64(0).u64(file).u64(size).get());
    first = entry;
    return entry;
  }

  // The fixture must outlive it.
  [[nodiscard]] std::unique_ptr<ProcessImage> image() {
    map(kDescriptor, Bytes().u32(version).u32(1).u64(first).u64(first).get());
    auto image = std::make_unique<ProcessImage>();
    image->arch = &kX86_64;
    std::vector<SegmentMemory::Segment> segments;
    for (const auto& [begin, bytes] : regions_) {
      segments.push_back({begin, bytes});
      Mapping mapping;
      mapping.range = {begin, begin + bytes.size()};
      mapping.executable = begin >= kJitCode && begin < kJitFrames;
      image->mappings.push_back(mapping);
    }
    image->memory = std::make_unique<SegmentMemory>(std::move(segments));
    std::vector<testing::SectionText> sections;
    sections.push_back(
        part(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x1000, Bytes().fill(24, 0)));
    SymbolParts().add("__jit_debug_descriptor", STT_OBJECT, 1, 0x1000, 24).append_to(sections);
    Module module;
    module.path = "/bin/jit";
    module.range = {0x400000, 0x402000};
    module.bias = 0x400000;
    module.state = ModuleState::found;
    module.file = ElfFile::from_memory(elf_of(ET_DYN, std::move(sections)), "/bin/jit");
    image->modules.push_back(std::move(module));
    return image;
  }

  Address first = 0;
  std::uint32_t version = 1;

 private:
  std::map<Address, std::vector<std::byte>> regions_;
  Address files_ = 0;
  Address entries_ = 0;
};

}  // namespace whocall::test
