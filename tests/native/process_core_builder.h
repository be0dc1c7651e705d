// Writes small core files, note by note and segment by segment.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "arch/architecture.h"
#include "object_elf_images.h"

namespace whocall::testing {

// A directory that is gone after the test. What a fetch that was given up still tidies up in it may
// be gone, or come, between two looks.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "whocall-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code error;
    for (int looks = 0; looks < 100 && std::filesystem::exists(path_, error); ++looks) {
      std::filesystem::remove_all(path_, error);
    }
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string write(const std::string& name, const Bytes& bytes) const {
    const std::string path = path_ + "/" + name;
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }

 private:
  std::string path_;
};

// Little-endian words of the architecture's size.
inline void append_word(Bytes& bytes, std::uint64_t value, unsigned size) {
  append(bytes, &value, size);
}

inline void append_text(Bytes& bytes, const std::string& text, std::size_t size) {
  std::string field = text;
  field.resize(size);
  append(bytes, field.data(), field.size());
}

inline Bytes prstatus(const Architecture& arch, std::uint32_t lwp, std::uint16_t signal, Address pc,
                      Address sp) {
  Bytes note(arch.os.prstatus.size);
  put(note, arch.os.prstatus.signal_offset, signal);
  put(note, arch.os.prstatus.lwp_offset, lwp);
  for (const SavedRegister& saved : arch.os.prstatus.registers) {
    const std::uint64_t value = saved.number == arch.registers.return_address ? pc
                                : saved.number == arch.registers.sp           ? sp
                                                                              : 0;
    std::memcpy(note.data() + arch.os.prstatus.registers_offset + saved.offset, &value, saved.size);
  }
  return note;
}

inline Bytes prpsinfo(const Architecture& arch, std::uint32_t pid, const std::string& name,
                      const std::string& arguments) {
  const bool wide = arch.abi.pointer_size == 8;
  Bytes note(wide ? 40 : 28);
  put(note, wide ? 24 : 12, pid);
  append_text(note, name, 16);
  append_text(note, arguments, 80);
  return note;
}

inline Bytes siginfo(const Architecture& arch, std::uint32_t signal, std::uint32_t code,
                     Address address) {
  Bytes note(128);
  put(note, 0, signal);
  put(note, 8, code);
  std::memcpy(note.data() + (arch.abi.pointer_size == 8 ? 16 : 12), &address,
              arch.abi.pointer_size);
  return note;
}

inline Bytes auxiliary_vector(const Architecture& arch,
                              const std::vector<std::pair<std::uint64_t, std::uint64_t>>& pairs) {
  Bytes note;
  for (const auto& [type, value] : pairs) {
    append_word(note, type, arch.abi.pointer_size);
    append_word(note, value, arch.abi.pointer_size);
  }
  append_word(note, AT_NULL, arch.abi.pointer_size);
  append_word(note, 0, arch.abi.pointer_size);
  return note;
}

struct FileRow {
  Address begin;
  Address end;
  std::uint64_t page;  // offset in the file, in pages of 4096 bytes
  std::string path;
};

inline Bytes file_note(const Architecture& arch, const std::vector<FileRow>& rows) {
  Bytes note;
  append_word(note, rows.size(), arch.abi.pointer_size);
  append_word(note, 4096, arch.abi.pointer_size);
  for (const FileRow& row : rows) {
    append_word(note, row.begin, arch.abi.pointer_size);
    append_word(note, row.end, arch.abi.pointer_size);
    append_word(note, row.page, arch.abi.pointer_size);
  }
  for (const FileRow& row : rows) {
    append(note, row.path.c_str(), row.path.size() + 1);
  }
  return note;
}

class CoreBuilder {
 public:
  explicit CoreBuilder(const Architecture& arch) : arch_(arch) {}

  CoreBuilder& note(std::uint32_t type, const Bytes& contents, const std::string& owner = "CORE") {
    const Elf64_Nhdr header{static_cast<Elf64_Word>(owner.size() + 1),
                            static_cast<Elf64_Word>(contents.size()), type};
    append(notes_, &header, sizeof(header));
    append_text(notes_, owner, (owner.size() + 4) / 4 * 4);
    append(notes_, contents.data(), contents.size());
    notes_.resize((notes_.size() + 3) / 4 * 4);
    return *this;
  }

  // `memory_size` bytes at `address`, of which `bytes` are dumped.
  CoreBuilder& load(Address address, std::uint32_t flags, Bytes bytes, std::uint64_t memory_size) {
    loads_.push_back({address, flags, std::move(bytes), memory_size});
    return *this;
  }

  [[nodiscard]] Bytes build() const {
    return arch_.abi.pointer_size == 8 ? build_as<Elf64_Ehdr, Elf64_Phdr>()
                                       : build_as<Elf32_Ehdr, Elf32_Phdr>();
  }

 private:
  struct Load {
    Address address;
    std::uint32_t flags;
    Bytes bytes;
    std::uint64_t memory_size;
  };

  template <typename Header, typename Segment>
  [[nodiscard]] Bytes build_as() const {
    Header header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = sizeof(Header) == sizeof(Elf64_Ehdr) ? ELFCLASS64 : ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_CORE;
    header.e_machine = arch_.abi.elf_machine;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof(Header);
    header.e_ehsize = sizeof(Header);
    header.e_phentsize = sizeof(Segment);
    header.e_phnum = static_cast<Elf64_Half>(loads_.size() + 1);
    std::vector<Segment> segments(loads_.size() + 1);
    Bytes body = notes_;
    const std::size_t start = sizeof(Header) + segments.size() * sizeof(Segment);
    fill(segments[0], PT_NOTE, start, 0, notes_.size(), 0, 0);
    for (std::size_t index = 0; index < loads_.size(); ++index) {
      const Load& load = loads_[index];
      fill(segments[index + 1], PT_LOAD, start + body.size(), load.address, load.bytes.size(),
           load.memory_size, load.flags);
      append(body, load.bytes.data(), load.bytes.size());
    }
    Bytes file;
    append(file, &header, sizeof(header));
    append(file, segments.data(), segments.size() * sizeof(Segment));
    append(file, body.data(), body.size());
    return file;
  }

  template <typename Segment>
  static void fill(Segment& segment, std::uint32_t type, std::uint64_t offset, Address address,
                   std::uint64_t file_size, std::uint64_t memory_size, std::uint32_t flags) {
    segment.p_type = type;
    segment.p_flags = flags;
    segment.p_offset = static_cast<decltype(segment.p_offset)>(offset);
    segment.p_vaddr = static_cast<decltype(segment.p_vaddr)>(address);
    segment.p_filesz = static_cast<decltype(segment.p_filesz)>(file_size);
    segment.p_memsz = static_cast<decltype(segment.p_memsz)>(memory_size);
    segment.p_align = 4;
  }

  const Architecture& arch_;
  Bytes notes_;
  std::vector<Load> loads_;
};

// A program of three pages: headers with a build id at 0, code at 0x1000, data at 0x2000 (link
// addresses, from `base` on); every byte of the code page is `code`.
inline Bytes tiny_program(std::uint16_t type, Address base, const std::string& build_id,
                          std::byte code = std::byte{0x90}) {
  Bytes file(0x3000);
  std::fill(file.begin() + 0x1000, file.begin() + 0x2000, code);
  Elf64_Ehdr header = header64(type);
  header.e_phoff = sizeof(header);
  header.e_phnum = 4;
  header.e_entry = base + 0x1010;
  const auto segment = [&](unsigned index, std::uint32_t kind, std::uint32_t flags,
                           std::uint64_t offset, std::uint64_t size) {
    Elf64_Phdr entry = {};
    entry.p_type = kind;
    entry.p_flags = flags;
    entry.p_offset = offset;
    entry.p_vaddr = base + offset;
    entry.p_filesz = size;
    entry.p_memsz = size;
    entry.p_align = kind == PT_LOAD ? 0x1000 : 4;
    put(file, sizeof(header) + index * sizeof(entry), entry);
  };
  const std::size_t note_size = sizeof(Elf64_Nhdr) + 4 + build_id.size();
  segment(0, PT_LOAD, PF_R, 0, 0x1000);
  segment(1, PT_LOAD, PF_R | PF_X, 0x1000, 0x1000);
  segment(2, PT_LOAD, PF_R | PF_W, 0x2000, 0x1000);
  segment(3, PT_NOTE, PF_R, 0x200, note_size);
  put(file, 0, header);
  put(file, 0x200, Elf64_Nhdr{4, static_cast<Elf64_Word>(build_id.size()), NT_GNU_BUILD_ID});
  std::memcpy(file.data() + 0x20c, "GNU", 4);
  std::memcpy(file.data() + 0x210, build_id.data(), build_id.size());
  return file;
}

inline Bytes part_of(const Bytes& bytes, std::size_t offset, std::size_t size) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(offset),
          bytes.begin() + static_cast<std::ptrdiff_t>(offset + size)};
}

}  // namespace whocall::testing
