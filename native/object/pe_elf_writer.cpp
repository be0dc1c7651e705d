#include "object/pe_elf_writer.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/interrupt.h"

namespace whocall {

PeElfWriter::PeElfWriter(const PeHeaders& headers, ByteView bytes, std::uint64_t kept)
    : headers_(headers), kept_(kept) {
  const auto stays = bytes.slice(0, kept)->bytes();
  out_.assign(stays.begin(), stays.end());
  out_.resize(std::max<std::size_t>(out_.size(), sizeof(Elf64_Ehdr)));
  std::fill_n(out_.begin(), sizeof(Elf64_Ehdr), std::byte{0});
  parts_.emplace_back();
  // The headers are there too, but nobody reads them.
  segments_.push_back({PF_R, 0, headers.image_base, 0, headers.headers_size});
}

PeElfWriter::Part& PeElfWriter::add(std::string_view name, std::uint32_t type) {
  Part& part = parts_.emplace_back();
  part.name = static_cast<std::uint32_t>(names_.size());
  part.type = type;
  names_.append(name).push_back('\0');
  return part;
}

void PeElfWriter::append(const void* bytes, std::size_t size) {
  const auto* begin = static_cast<const std::byte*>(bytes);
  out_.insert(out_.end(), begin, begin + size);
}

void PeElfWriter::align() { out_.resize((out_.size() + 7) / 8 * 8); }

void PeElfWriter::add_part(std::string_view name, std::span<const std::byte> contents) {
  align();
  Part& part = add(name, SHT_PROGBITS);
  part.offset = out_.size();
  part.size = contents.size();
  append(contents.data(), contents.size());
}

void PeElfWriter::add_section(const PeSection& section, bool loaded) {
  const std::uint64_t offset = loaded ? section.address : section.offset;
  const std::uint64_t room = offset < kept_ ? kept_ - offset : 0;
  const std::uint64_t held = std::min<std::uint64_t>(section.file_size(), room);
  const bool debug = section.name.starts_with(".debug_");
  Part& part = add(section.name, held == 0 ? SHT_NOBITS : SHT_PROGBITS);
  part.flags = debug ? 0
                     : SHF_ALLOC | (section.is_writable() ? SHF_WRITE : 0U) |
                           (section.is_code() ? SHF_EXECINSTR : 0U);
  part.address = debug ? 0 : headers_.image_base + section.address;
  part.offset = offset;
  part.size = held == 0 ? section.memory_size() : held;
  const std::uint32_t flags =
      PF_R | (section.is_writable() ? PF_W : 0U) | (section.is_code() ? PF_X : 0U);
  segments_.push_back(
      {flags, offset, headers_.image_base + section.address, held, section.memory_size()});
}

std::uint16_t PeElfWriter::section_of(std::uint32_t address) const {
  const std::uint64_t link = headers_.image_base + address;
  for (std::size_t at = 1; at < parts_.size(); ++at) {
    const Part& part = parts_[at];
    if ((part.flags & SHF_ALLOC) != 0 && link >= part.address && link - part.address < part.size) {
      return static_cast<std::uint16_t>(at);
    }
  }
  return SHN_ABS;
}

template <typename Row>
void PeElfWriter::append_symbol(const Symbol& symbol, std::uint32_t name) {
  Row row = {};
  row.st_name = name;
  row.st_info = static_cast<unsigned char>((symbol.is_global ? STB_GLOBAL : STB_LOCAL) << 4U |
                                           (symbol.is_code ? STT_FUNC : STT_OBJECT));
  row.st_shndx = section_of(symbol.address);
  row.st_value = static_cast<decltype(row.st_value)>(headers_.image_base + symbol.address);
  row.st_size = symbol.size;
  append(&row, sizeof row);
}

void PeElfWriter::add_symbols(std::uint32_t type, const std::vector<Symbol>& symbols) {
  if (symbols.empty()) {
    return;
  }
  const std::size_t stride = headers_.wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  std::string strings(1, '\0');
  align();
  const std::size_t offset = out_.size();
  out_.resize(out_.size() + stride);
  std::size_t asked = 0;
  for (const Symbol& symbol : symbols) {
    check_interrupt_at(asked++, kManyEntries);
    const auto name = static_cast<std::uint32_t>(strings.size());
    strings.append(symbol.name).push_back('\0');
    headers_.wide ? append_symbol<Elf64_Sym>(symbol, name) : append_symbol<Elf32_Sym>(symbol, name);
  }
  const bool dynamic = type == SHT_DYNSYM;
  Part& table = add(dynamic ? ".dynsym" : ".symtab", type);
  table.offset = offset;
  table.size = out_.size() - offset;
  table.link = static_cast<std::uint32_t>(parts_.size());
  table.entry_size = stride;
  Part& text = add(dynamic ? ".dynstr" : ".strtab", SHT_STRTAB);
  text.offset = out_.size();
  text.size = strings.size();
  append(strings.data(), strings.size());
}

// ELF's words are those of this machine's byte order, which is PE's too on all that can be hosts.
template <typename Header, typename ProgramHeader, typename SectionHeader>
void PeElfWriter::write_headers() {
  Header header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = headers_.wide ? ELFCLASS64 : ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = headers_.wide ? EM_X86_64 : EM_386;
  header.e_version = EV_CURRENT;
  header.e_entry = static_cast<decltype(header.e_entry)>(
      headers_.entry == 0 ? 0 : headers_.image_base + headers_.entry);
  header.e_ehsize = sizeof header;
  header.e_phoff = static_cast<decltype(header.e_phoff)>(out_.size());
  header.e_phentsize = sizeof(ProgramHeader);
  header.e_phnum = static_cast<std::uint16_t>(segments_.size());
  for (const Segment& segment : segments_) {
    ProgramHeader row = {};
    row.p_type = PT_LOAD;
    row.p_flags = segment.flags;
    row.p_offset = static_cast<decltype(row.p_offset)>(segment.offset);
    row.p_vaddr = static_cast<decltype(row.p_vaddr)>(segment.address);
    row.p_filesz = static_cast<decltype(row.p_filesz)>(segment.file_size);
    row.p_memsz = static_cast<decltype(row.p_memsz)>(segment.memory_size);
    row.p_align = 4096;
    append(&row, sizeof row);
  }
  header.e_shoff = static_cast<decltype(header.e_shoff)>(out_.size());
  header.e_shentsize = sizeof(SectionHeader);
  header.e_shnum = static_cast<std::uint16_t>(parts_.size());
  header.e_shstrndx = static_cast<std::uint16_t>(parts_.size() - 1);
  for (const Part& part : parts_) {
    SectionHeader row = {};
    row.sh_name = part.name;
    row.sh_type = part.type;
    row.sh_flags = static_cast<decltype(row.sh_flags)>(part.flags);
    row.sh_addr = static_cast<decltype(row.sh_addr)>(part.address);
    row.sh_offset = static_cast<decltype(row.sh_offset)>(part.offset);
    row.sh_size = static_cast<decltype(row.sh_size)>(part.size);
    row.sh_link = part.link;
    row.sh_addralign = 1;
    row.sh_entsize = static_cast<decltype(row.sh_entsize)>(part.entry_size);
    append(&row, sizeof row);
  }
  std::memcpy(out_.data(), &header, sizeof header);
}

std::vector<std::byte> PeElfWriter::finish() && {
  Part& names = add(".shstrtab", SHT_STRTAB);
  names.offset = out_.size();
  names.size = names_.size();
  append(names_.data(), names_.size());
  align();
  if (headers_.wide) {
    write_headers<Elf64_Ehdr, Elf64_Phdr, Elf64_Shdr>();
  } else {
    write_headers<Elf32_Ehdr, Elf32_Phdr, Elf32_Shdr>();
  }
  return std::move(out_);
}

}  // namespace whocall
