// Files with code in them: sections at link addresses, which one segment loads together.
#pragma once

#include <elf.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base_bytes.h"
#include "object/elf_file.h"
#include "process/file_image.h"
#include "symbols/symbolizer.h"
#include "unwind/code/code_map.h"
#include "unwind/rows/cfi_tables.h"
#include "unwind_module.h"

namespace whocall::test {

struct CodeSection {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  Address address = 0;  // link address, behind CodeFile::kBase; 0: not loaded
  Bytes bytes{};
  std::uint64_t flags = SHF_ALLOC;
  std::uint64_t entry_size = 0;
  std::uint32_t link = 0;  // index of a section: they count from 1
};

class CodeFile {
 public:
  static constexpr Address kBase = 0x400000;

  explicit CodeFile(const Architecture& arch) : arch_(arch) {}

  CodeFile& section(CodeSection section) {
    sections_.push_back(std::move(section));
    return *this;
  }
  CodeFile& code(Address address, const Bytes& bytes, const std::string& name = ".text") {
    return section(
        {.name = name, .address = address, .bytes = bytes, .flags = SHF_ALLOC | SHF_EXECINSTR});
  }
  CodeFile& debug_frame(const FrameTable& table) {
    return section({.name = ".debug_frame", .bytes = table.bytes(), .flags = 0});
  }
  CodeFile& entry(Address address) {
    entry_ = address;
    return *this;
  }

  [[nodiscard]] std::shared_ptr<const ElfFile> file() const {
    const unsigned word = arch_.abi.pointer_size;
    std::vector<CodeSection> sections = sections_;
    sections.push_back({.name = ".shstrtab", .type = SHT_STRTAB, .flags = 0});
    std::vector<std::uint32_t> names;
    Bytes text = Bytes().u8(0);
    for (const CodeSection& one : sections) {
      names.push_back(static_cast<std::uint32_t>(text.size()));
      text.text(one.name);
    }
    sections.back().bytes = text;
    std::uint64_t loaded = 0x1000;
    for (const CodeSection& one : sections) {
      loaded = one.address != 0 ? std::max(loaded, one.address - kBase + one.bytes.size()) : loaded;
    }
    std::vector<std::byte> image(loaded);
    std::vector<std::uint64_t> offsets;
    for (const CodeSection& one : sections) {
      offsets.push_back(one.address != 0 ? one.address - kBase : image.size());
      if (one.address == 0) {
        image.insert(image.end(), one.bytes.get().begin(), one.bytes.get().end());
      } else {
        std::ranges::copy(one.bytes.get(),
                          image.begin() + static_cast<std::ptrdiff_t>(offsets.back()));
      }
    }
    image.resize((image.size() + 7) / 8 * 8);
    const Bytes start = headers(image.size(), loaded, sections.size() + 1);
    std::ranges::copy(start.get(), image.begin());
    Bytes table;
    table.fill(word == 8 ? 64 : 40, 0);
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const CodeSection& one = sections[i];
      table.u32(names[i]).u32(one.type).fixed(one.flags, word).fixed(one.address, word);
      table.fixed(offsets[i], word).fixed(one.bytes.size(), word).u32(one.link).u32(0);
      table.fixed(1, word).fixed(one.entry_size, word);
    }
    image.insert(image.end(), table.get().begin(), table.get().end());
    return ElfFile::from_memory(std::move(image), "synthetic");
  }

 private:
  [[nodiscard]] Bytes headers(std::uint64_t sections_at, std::uint64_t loaded,
                              std::size_t section_count) const {
    const unsigned word = arch_.abi.pointer_size;
    const bool wide = word == 8;
    Bytes file{0x7f, 'E', 'L', 'F', wide ? 2U : 1U, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    file.u16(ET_DYN).u16(arch_.abi.elf_machine).u32(1);
    file.fixed(entry_, word).fixed(wide ? 64 : 52, word).fixed(sections_at, word).u32(0);
    file.u16(wide ? 64 : 52).u16(wide ? 56 : 32).u16(1).u16(wide ? 64 : 40);
    file.u16(section_count).u16(section_count - 1);
    file.u32(PT_LOAD);
    if (wide) {
      file.u32(PF_R | PF_X);
    }
    file.fixed(0, word).fixed(kBase, word).fixed(kBase, word).fixed(loaded, word);
    file.fixed(loaded, word);
    if (!wide) {
      file.u32(PF_R | PF_X);
    }
    return file.fixed(0x1000, word);
  }

  const Architecture& arch_;
  std::vector<CodeSection> sections_;
  Address entry_ = 0;
};

// The file as a process, at its link addresses, with all that asks about code.
struct CodeProcess {
  std::shared_ptr<const ElfFile> file;
  std::unique_ptr<ProcessImage> image;
  Symbolizer symbolizer;
  CfiTables cfi;
  CodeMap code;

  CodeProcess(const Architecture& arch, const CodeFile& parts)
      : file(parts.file()),
        image(image_of_file(file, arch)),
        symbolizer(*image),
        cfi(*image),
        code(*image, cfi, symbolizer) {}
};

// Functions one after the other, 64 bytes each, int3 behind them; a table tells their bounds.
class Functions {
 public:
  static constexpr Address kFirst = 0x401000;
  static constexpr std::uint64_t kSize = 64;

  explicit Functions(const Architecture& arch) : arch_(arch), table_(arch) {
    cie_ = table_.usual_cie();
  }

  static constexpr Address address(std::size_t number) { return kFirst + number * kSize; }
  // A jump or call (opcode e8 or e9) that stands at `offset` of the next function.
  [[nodiscard]] Bytes branch(unsigned opcode, Address target, std::uint64_t offset = 0) const {
    return Bytes{opcode}.u32(target - (address(count_) + offset + 5));
  }
  Address add(Bytes code) {
    const Address begin = address(count_++);
    table_.fde(cie_, {begin, begin + code.size()});
    text_.append(code.fill(kSize - code.size(), 0xcc));
    return begin;
  }
  [[nodiscard]] CodeFile file() const {
    return CodeFile(arch_).code(kFirst, text_).debug_frame(table_);
  }

 private:
  const Architecture& arch_;
  FrameTable table_;
  std::uint64_t cie_ = 0;
  Bytes text_;
  std::size_t count_ = 0;
};

}  // namespace whocall::test
