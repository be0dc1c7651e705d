#include "process/core/core_file.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "arch/architecture_choice.h"
#include "base/error.h"
#include "base/long_work.h"
#include "base/mapped_file.h"
#include "memory/segment_memory.h"
#include "object/elf_architecture.h"
#include "process/core/core_image.h"
#include "process/core/core_notes.h"
#include "process/core/foreign_core.h"
#include "process/core/own_notes.h"

namespace whocall {
namespace {

constexpr std::string_view kWhatIsRead = "Give a core of Linux, or a minidump of Linux or Android";

// How a file that is not ELF is packed, when its first bytes tell; else empty.
std::string_view packer_of(std::span<const std::byte> bytes) {
  struct Magic {
    std::string_view bytes;
    std::string_view packer;
  };
  using namespace std::string_view_literals;
  static constexpr Magic kMagics[] = {{"\x28\xb5\x2f\xfd"sv, "zstd -d"sv},
                                      {"\x04\x22\x4d\x18"sv, "lz4 -d"sv},
                                      {"\xfd\x37zXZ"sv, "xz -d"sv},
                                      {"\x1f\x8b"sv, "gzip -d"sv}};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Magic& magic : kMagics) {
    if (text.starts_with(magic.bytes)) {
      return magic.packer;
    }
  }
  return {};
}

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
  const auto mapped = MappedFile::open(path);
  if (const auto packer = packer_of(mapped->bytes()); !packer.empty()) {
    throw Error(path, "is not a core file: it is compressed",
                "Unpack it first with `" + std::string(packer) + "`");
  }
  if (const auto kind = foreign_dump(mapped->bytes()); !kind.empty()) {
    throw Error(path, std::string(kind), std::string(kWhatIsRead));
  }
  return ElfFile::open(path);
}

void require_linux(const ElfFile& file, std::span<const ElfNote> notes) {
  if (const auto system = foreign_system(notes); !system.empty()) {
    throw Error(file.path(), "is a core of " + std::string(system), std::string(kWhatIsRead));
  }
}

void require_core(const ElfFile& file) {
  if (file.type() == ET_CORE) {
    return;
  }
  const bool program = file.type() == ET_EXEC || !file.interpreter().empty();
  const std::string kind = program                 ? "an executable"
                           : file.type() == ET_DYN ? "a shared library or an executable"
                           : file.type() == ET_REL ? "an object file"
                                                   : "an ELF file of another kind";
  throw Error(file.path(), "is not a core file: it is " + kind,
              "Give the core as the first file, and the program, if need be, after it");
}

// The notes of all PT_NOTE segments, cut off where the file is.
std::vector<ElfNote> notes_of(const ElfFile& file) {
  std::vector<ElfNote> notes;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != PT_NOTE) {
      continue;
    }
    const ByteView rest = file.bytes().from(segment.offset);
    const auto area = rest.slice(0, std::min<std::uint64_t>(rest.size(), segment.file_size));
    const auto parsed = parse_notes(area.value_or(ByteView()), segment.alignment, file.budget());
    for (const ElfNote& note : parsed) {
      const bool thread = note.type == NT_PRSTATUS && (note.owner == "CORE" || note.owner.empty());
      if (!thread || file.budget().draw(Cost::threads, 1)) {
        notes.push_back(note);
      }
    }
  }
  return notes;
}

const Architecture& require_architecture_of(const ElfFile& file, std::span<const ElfNote> notes) {
  const Architecture* arch = architecture_of_core(file.identity(), register_note_size(notes));
  return arch == nullptr ? architecture_of(file) : *arch;
}

// The parts of a segment between the blanks, which ascend.
void append_known(Address begin, std::span<const std::byte> bytes,
                  const std::vector<AddressRange>& blanks,
                  std::vector<SegmentMemory::Segment>& segments) {
  const auto ends_before = [&](const AddressRange& blank) { return blank.end <= begin; };
  auto blank = std::ranges::partition_point(blanks, ends_before);
  std::uint64_t done = 0;
  for (; blank != blanks.end() && blank->begin < begin + bytes.size(); ++blank) {
    const std::uint64_t at = std::max(blank->begin, begin) - begin;
    segments.push_back({begin + done, bytes.subspan(done, at - done)});
    done = std::min<std::uint64_t>(blank->end - begin, bytes.size());
  }
  segments.push_back({begin + done, bytes.subspan(done)});
}

// What the file lacks of what its headers announce ("it has 10 of 20 bytes"); empty when nothing.
std::string truncation(const ElfFile& file) {
  std::uint64_t announced = 0;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.file_size > 0 && segment.offset <= ~segment.file_size) {
      announced = std::max(announced, segment.offset + segment.file_size);
    }
  }
  if (announced > file.bytes().size()) {
    return "it has " + std::to_string(file.bytes().size()) + " of " + std::to_string(announced) +
           " bytes";
  }
  return file.damage();
}

}  // namespace

CoreFile read_core_file(const std::string& path) {
  CoreFile core{path, open_elf(path)};
  require_core(*core.file);
  core.notes = notes_of(*core.file);
  require_linux(*core.file, core.notes);
  core.arch = &require_architecture_of(*core.file, core.notes);
  return core;
}

// All but what was made zero on purpose, which is not known.
std::unique_ptr<Memory> dumped_memory(const CoreFile& core) {
  const std::vector<AddressRange> blanks = blanks_of(core.notes);
  std::vector<SegmentMemory::Segment> segments;
  for (const ElfSegment& segment : core.file->segments()) {
    if (segment.type != PT_LOAD) {
      continue;
    }
    const auto bytes = core.file->bytes().from(segment.offset).bytes();
    const std::uint64_t size =
        std::min({std::uint64_t{bytes.size()}, segment.file_size, segment.memory_size});
    append_known(segment.address, bytes.first(size), blanks, segments);
  }
  return std::make_unique<SegmentMemory>(std::move(segments),
                                         std::vector<std::shared_ptr<const void>>{core.file});
}

std::unique_ptr<ProcessImage> open_core(const CoreFile& core, std::unique_ptr<Memory> memory,
                                        const FileSearch& search) {
  CoreContents contents;
  contents.arch = core.arch;
  contents.path = core.path;
  contents.lack = truncation(*core.file);
  contents.segments.assign(core.file->segments().begin(), core.file->segments().end());
  contents.notes = core.notes;
  contents.memory = std::move(memory);
  contents.source = core.file;
  return image_of_core(std::move(contents), search);
}

std::unique_ptr<ProcessImage> open_core(const std::string& path, const FileSearch& search) {
  const LongWork work("Reading", path);
  const CoreFile core = read_core_file(path);
  return open_core(core, dumped_memory(core), search);
}

}  // namespace whocall
