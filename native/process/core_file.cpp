// Opens a core file.
#include <elf.h>

#include <algorithm>
#include <utility>

#include "arch/architecture_choice.h"
#include "arch/signed_pointers.h"
#include "base/error.h"
#include "base/long_work.h"
#include "base/mapped_file.h"
#include "memory/segment_memory.h"
#include "object/elf_architecture.h"
#include "process/core_mappings.h"
#include "process/core_notes.h"
#include "process/foreign_core.h"
#include "process/modules.h"
#include "process/process_image.h"

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

std::unique_ptr<Memory> dumped_memory(const std::shared_ptr<const ElfFile>& file) {
  std::vector<SegmentMemory::Segment> segments;
  for (const ElfSegment& segment : file->segments()) {
    if (segment.type != PT_LOAD) {
      continue;
    }
    const auto bytes = file->bytes().from(segment.offset).bytes();
    const std::uint64_t size =
        std::min({std::uint64_t{bytes.size()}, segment.file_size, segment.memory_size});
    segments.push_back({segment.address, bytes.first(size)});
  }
  return std::make_unique<SegmentMemory>(std::move(segments),
                                         std::vector<std::shared_ptr<const void>>{file});
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

constexpr std::string_view kWhereCoresBreak =
    "Look for a full disk or a limit (ulimit -c) where it was written";

void warn_about_truncation(const ElfFile& file, std::vector<std::string>& warnings) {
  if (const std::string lack = truncation(file); !lack.empty()) {
    warnings.push_back("The core " + file.path() + " is truncated: " + lack +
                       ", so some memory may be unknown. " + std::string(kWhereCoresBreak) + ".");
  }
}

void warn_about_missing_notes(const CoreNotes& notes, std::vector<std::string>& warnings) {
  if (!notes.has_auxiliary && notes.modules.empty()) {
    warnings.emplace_back(
        "The core has no auxiliary vector (NT_AUXV), so which module is the program is a guess.");
  }
}

// Folklore. Situation: a backtrace ends at its first frame, as the core has the stack's place and
// none of its bytes. Example: a service that was started with coredump_filter 0, so that its cores
// hold no secrets. Remedy: who left the memory out is told, as no file that is searched for helps.
void warn_about_left_out_stacks(const ElfFile& file, const ProcessImage& image,
                                std::vector<std::string>& warnings) {
  std::vector<AddressRange> empty;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type == PT_LOAD && segment.file_size == 0) {
      empty.push_back({segment.address, segment.address + segment.memory_size});
    }
  }
  std::ranges::sort(empty, {}, &AddressRange::begin);
  const auto left_out = [&](const Thread& thread) {
    const auto sp = thread.registers.get(image.arch->registers.sp);
    const auto above = std::ranges::upper_bound(empty, sp.value_or(0), {}, &AddressRange::begin);
    return sp && above != empty.begin() && std::prev(above)->contains(*sp);
  };
  const auto lacking = std::ranges::count_if(image.threads, left_out);
  if (lacking == 0) {
    return;
  }
  const bool all_data = std::ranges::none_of(file.segments(), [](const ElfSegment& segment) {
    return segment.type == PT_LOAD && (segment.flags & PF_W) != 0 && segment.file_size != 0;
  });
  const std::string which = image.threads.size() == 1
                                ? "of its thread"
                                : "of " + std::to_string(lacking) + " of its " +
                                      std::to_string(image.threads.size()) + " threads";
  warnings.push_back(
      "The core " + file.path() + " was written without the stack " + which +
      (all_data ? ", and without all other memory that the program could write: its "
                  "coredump_filter lacks bit 0. Let the program write the next one with it (echo "
                  "0x33 > /proc/PID/coredump_filter)."
                : ". No file can stand in for that."));
}

// Dumpers that leave all protections out mean nothing by it.
void repair_protections(std::vector<Mapping>& mappings) {
  if (std::ranges::none_of(mappings, &Mapping::executable)) {
    for (Mapping& mapping : mappings) {
      mapping.readable = true;
      mapping.executable = true;
      mapping.permissions_known = false;
    }
  }
}

// Of memory whose mapping is not told: what lies in a module is of the file's protection there, or
// may be code; so may what a thread's program counter stands in, as compiled at run time.
void doubt_protections(ProcessImage& image, std::span<const ToldModule> told) {
  for (Mapping& mapping : image.mappings) {
    if (!mapping.path.empty()) {
      continue;
    }
    const bool in_module = std::ranges::any_of(
        told, [&](const ToldModule& module) { return module.range.contains(mapping.range.begin); });
    const bool runs = std::ranges::any_of(image.threads, [&](const Thread& thread) {
      const auto pc = thread.registers.get(image.arch->registers.pc);
      return pc && mapping.range.contains(*pc);
    });
    if (in_module || runs) {
      mapping.executable = true;
      mapping.writable = mapping.writable && !in_module;
      mapping.permissions_known = false;
    }
  }
}

void require_threads(const ElfFile& file, const ProcessImage& image) {
  if (!image.threads.empty()) {
    return;
  }
  const std::string lack = truncation(file);
  throw Error(file.path(),
              "has no thread whose registers can be read" +
                  (lack.empty() ? std::string() : ": it is truncated, " + lack),
              lack.empty() ? "Write the core anew: it needs its NT_PRSTATUS notes"
                           : std::string(kWhereCoresBreak) + ", and write it anew");
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

}  // namespace

std::unique_ptr<ProcessImage> open_core(const std::string& path, const FileSearch& search) {
  const LongWork work("Reading", path);
  const auto file = open_elf(path);
  require_core(*file);
  auto image = std::make_unique<ProcessImage>();
  const std::vector<ElfNote> elf_notes = notes_of(*file);
  require_linux(*file, elf_notes);
  image->arch = &require_architecture_of(*file, elf_notes);
  image->core_path = path;
  image->source = file;
  warn_about_truncation(*file, image->warnings);

  CoreNotes notes = read_core_notes(elf_notes, *image->arch);
  image->arch = &with_signatures_in(*image->arch, notes.signature_bits);
  image->warnings.insert(image->warnings.end(), notes.warnings.begin(), notes.warnings.end());
  image->threads = std::move(notes.threads);
  require_threads(*file, *image);
  warn_about_left_out_stacks(*file, *image, image->warnings);
  warn_about_missing_notes(notes, image->warnings);
  image->pid = notes.pid != 0 ? notes.pid : image->threads.front().lwp;
  image->mappings = core_mappings(file->segments(), notes.files);
  image->partial_map = notes.partial_map;
  if (notes.partial_map) {
    doubt_protections(*image, notes.modules);
  } else {
    repair_protections(image->mappings);
  }

  auto memory = dumped_memory(file);
  const std::string program = notes.arguments.empty() ? notes.name : first_word(notes.arguments);
  const ProcessEvidence evidence{*image->arch, *memory, image->mappings, notes.auxiliary,
                                 program,      {},      notes.modules};
  find_modules(*image, evidence, {search, 0, {}});
  put_memory(*image, std::move(memory));
  return image;
}

}  // namespace whocall
