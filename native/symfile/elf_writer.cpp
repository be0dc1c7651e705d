#include "symfile/elf_writer.h"

#include <elf.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/byte_sink.h"
#include "base/error.h"

namespace whocall {
namespace {

// Who reads the file is to know that no compiler wrote its rules: libwhocall looks for this.
constexpr char kWriter[] = "whocall wrote these names and rules: found by analysis";

constexpr std::size_t kMostSections = 0xfe00;  // numbers from 0xff00 on have other meanings

struct WrittenSection {
  std::string name;
  std::uint32_t type = SHT_NULL;
  std::uint64_t flags = 0;
  Address address = 0;
  std::uint64_t offset = 0;  // set when it is laid out
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t alignment = 1;
  std::uint64_t entry_size = 0;
  std::span<const std::byte> contents{};
  std::span<const WrittenSymbols::Record> symbols{};  // or these
  bool is_template = false;  // of thread-local data: its addresses are not in memory
};

class DebugFileWriter {
 public:
  DebugFileWriter(const ElfFile& file, SymbolFilePlace place)
      : file_(file),
        place_(place),
        wide_(file.pointer_size() == 8),
        out_(file.endian(), file.pointer_size()) {
    sections_.emplace_back();
  }

  std::vector<std::byte> write(const WrittenSymbols& symbols, const DebugSections& debug) {
    if (place_ != SymbolFilePlace::of_process) {
      clone_loaded_sections();
    }
    if (!debug.info.empty()) {
      add(".debug_info", SHT_PROGBITS, 1, debug.info);
      add(".debug_abbrev", SHT_PROGBITS, 1, debug.abbrev);
    }
    if (!debug.frame.empty()) {
      add(".debug_frame", SHT_PROGBITS, file_.pointer_size(), debug.frame);
      add(".comment", SHT_PROGBITS, 1, std::as_bytes(std::span(kWriter)));
    }
    add_table(symbols.records());
    add(".strtab", SHT_STRTAB, 1, std::as_bytes(std::span(symbols.names())));
    const std::vector<std::byte> section_names = add_section_names();
    return lay_out();
  }

 private:
  void clone_loaded_sections() {
    for (const ElfSection& section : file_.sections()) {
      if ((section.flags & SHF_ALLOC) == 0 || section.type == SHT_NULL) {
        continue;
      }
      WrittenSection copy{
          .name = std::string(section.name),
          .type = SHT_NOBITS,
          .flags = (section.flags & ~std::uint64_t{SHF_COMPRESSED | SHF_INFO_LINK}) |
                   (place_ == SymbolFilePlace::beside ? SHF_TLS : 0),
          .address = section.address,
          .size = section.size,
          .alignment = section.alignment,
          .is_template = (section.flags & SHF_TLS) != 0};
      if (section.name == ".note.gnu.build-id") {
        if (const auto contents = file_.contents(section)) {
          copy.type = SHT_NOTE;
          copy.contents = contents->bytes();
          copy.size = contents->size();
        }
      }
      sections_.push_back(std::move(copy));
    }
    if (sections_.size() > kMostSections) {
      throw Error(file_.path(), "it has more sections than a symbol file can repeat",
                  "use a file without damage");
    }
    if (sections_.size() == 1) {
      stand_in_for_sections();
    }
  }

  void stand_in_for_sections() {
    for (const ElfSegment& segment : file_.segments()) {
      if (segment.type == PT_LOAD && segment.memory_size != 0) {
        const bool code = (segment.flags & PF_X) != 0;
        const bool writable = (segment.flags & PF_W) != 0;
        sections_.push_back({.name = code ? ".text" : ".load" + std::to_string(sections_.size()),
                             .type = SHT_NOBITS,
                             .flags = std::uint64_t{SHF_ALLOC} | (code ? SHF_EXECINSTR : 0) |
                                      (writable ? SHF_WRITE : 0),
                             .address = segment.address,
                             .size = segment.memory_size});
      }
    }
  }

  void add(std::string name, std::uint32_t type, std::uint64_t alignment,
           std::span<const std::byte> contents) {
    sections_.push_back({.name = std::move(name),
                         .type = type,
                         .size = contents.size(),
                         .alignment = alignment,
                         .contents = contents});
  }

  // The index of the section that `address` lies in; gdb moves symbols with their sections.
  std::uint16_t section_of(Address address) {
    if (!loaded_range(sections_[last_]).contains(address)) {
      const auto found = std::ranges::find_if(sections_, [&](const WrittenSection& section) {
        return loaded_range(section).contains(address);
      });
      if (found == sections_.end()) {
        return SHN_ABS;
      }
      last_ = static_cast<std::size_t>(found - sections_.begin());
    }
    return static_cast<std::uint16_t>(last_);
  }
  static AddressRange loaded_range(const WrittenSection& section) {
    return {section.address, (section.flags & SHF_ALLOC) != 0 && !section.is_template
                                 ? section.address + section.size
                                 : section.address};
  }

  [[nodiscard]] std::uint64_t symbol_size() const {
    return wide_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  }

  // Only its place: the table is most of the file and is written where it belongs.
  void add_table(std::span<const WrittenSymbols::Record> symbols) {
    add(".symtab", SHT_SYMTAB, file_.pointer_size(), {});
    WrittenSection& section = sections_.back();
    section.link = static_cast<std::uint32_t>(sections_.size());  // of .strtab, which comes next
    section.info = 1 + static_cast<std::uint32_t>(
                           std::ranges::count(symbols, false, &WrittenSymbols::Record::global));
    section.entry_size = symbol_size();
    section.size = (symbols.size() + 1) * symbol_size();
    section.symbols = symbols;
  }

  // Local symbols stand before all others, as the format asks.
  void write_table(const WrittenSection& section) {
    std::byte* at = out_.extend(section.size) + symbol_size();  // the first is all noughts
    for (const bool global : {false, true}) {
      const unsigned binding = global ? STB_GLOBAL : STB_LOCAL;
      const auto info = static_cast<std::uint8_t>(ELF64_ST_INFO(binding, STT_FUNC));
      for (const WrittenSymbols::Record& symbol : section.symbols) {
        if (symbol.global == global) {
          at = put_symbol(at, symbol, info, section_of(symbol.range.begin));
        }
      }
    }
  }

  std::byte* put_symbol(std::byte* at, const WrittenSymbols::Record& symbol, std::uint8_t info,
                        std::uint16_t section) const {
    constexpr std::uint8_t kVisibility = STV_DEFAULT;
    const Address value = symbol.range.begin | symbol.mode_bits;
    const std::uint64_t size = symbol.range.size();
    return wide_ ? ByteSink::put_at(at, file_.endian(), symbol.name, info, kVisibility, section,
                                    value, size)
                 : ByteSink::put_at(at, file_.endian(), symbol.name,
                                    static_cast<std::uint32_t>(value),
                                    static_cast<std::uint32_t>(size), info, kVisibility, section);
  }

  std::vector<std::byte> add_section_names() {
    add(".shstrtab", SHT_STRTAB, 1, {});
    ByteSink names(file_.endian(), file_.pointer_size());
    for (const WrittenSection& section : sections_) {
      section_names_.push_back(static_cast<std::uint32_t>(names.size()));
      names.text(section.name);
    }
    auto bytes = std::move(names).take();
    sections_.back().size = bytes.size();
    sections_.back().contents = bytes;
    return bytes;
  }

  static bool is_stored(const WrittenSection& section) {
    return section.type == SHT_SYMTAB || !section.contents.empty();
  }

  std::vector<std::byte> lay_out() {
    std::uint64_t at = wide_ ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    for (WrittenSection& section : sections_) {
      const std::uint64_t alignment = is_stored(section) ? 8 : 1;
      at = (at + alignment - 1) / alignment * alignment;
      section.offset = section.type == SHT_NULL ? 0 : at;
      at += is_stored(section) ? section.size : 0;
    }
    headers_at_ = (at + 7) / 8 * 8;
    out_.reserve(headers_at_ + sections_.size() * sizeof(Elf64_Shdr));
    write_header();
    for (const WrittenSection& section : sections_) {
      if (section.type == SHT_SYMTAB) {
        out_.align(8);
        write_table(section);
      } else if (is_stored(section)) {
        out_.align(8).append(section.contents);
      }
    }
    out_.align(8);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      write_section_header(sections_[i], section_names_[i]);
    }
    return std::move(out_).take();
  }

  void write_header() {
    out_.append(file_.bytes().bytes().first(EI_NIDENT));
    out_.u16(file_.type()).u16(file_.machine()).u32(EV_CURRENT);
    out_.word(file_.entry()).word(0).word(headers_at_);
    out_.u32(file_.bytes().read<std::uint32_t>(wide_ ? 48 : 36).value_or(0));  // e_flags
    out_.u16(wide_ ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)).u16(0).u16(0);
    out_.u16(wide_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
    out_.u16(sections_.size()).u16(sections_.size() - 1);
  }

  void write_section_header(const WrittenSection& section, std::uint32_t name) {
    out_.u32(name).u32(section.type).word(section.flags).word(section.address);
    out_.word(section.offset).word(section.size).u32(section.link).u32(section.info);
    out_.word(section.alignment).word(section.entry_size);
  }

  const ElfFile& file_;
  SymbolFilePlace place_;
  bool wide_;
  ByteSink out_;
  std::vector<WrittenSection> sections_;
  std::vector<std::uint32_t> section_names_;
  std::uint64_t headers_at_ = 0;
  std::size_t last_ = 0;  // where the symbol before was found
};

}  // namespace

void WrittenSymbols::reserve(std::size_t count) {
  constexpr std::size_t kUsualName = 16;
  records_.reserve(count);
  names_.reserve(count * kUsualName);
}

void WrittenSymbols::add(const WrittenSymbol& symbol, std::string_view mark) {
  records_.push_back({symbol.range, static_cast<std::uint32_t>(names_.size()), symbol.global});
  names_.append(symbol.name);
  if (!mark.empty()) {
    names_.append(mark);
  }
  names_.push_back('\0');
}

void WrittenSymbols::set_mode_bits(InstructionDecoder& decoder) {
  for (Record& record : records_) {
    record.mode_bits = static_cast<std::uint8_t>(decoder.mode_bits(record.range.begin));
  }
}

std::vector<std::byte> write_debug_file(const ElfFile& file, const WrittenSymbols& symbols,
                                        const DebugSections& debug, SymbolFilePlace place) {
  return DebugFileWriter(file, place).write(symbols, debug);
}

}  // namespace whocall
