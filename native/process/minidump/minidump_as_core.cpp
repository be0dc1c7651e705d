#include "process/minidump/minidump_as_core.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "base/byte_sink.h"
#include "base/error.h"
#include "base/joined_ranges.h"
#include "base/text_lines.h"
#include "memory/segment_memory.h"
#include "object/elf_file.h"
#include "object/elf_header.h"
#include "object/open_files.h"
#include "process/core/core_image.h"
#include "process/input/input_kind.h"
#include "process/minidump/core_notes_writer.h"
#include "process/minidump/library_places.h"
#include "process/minidump/microdump.h"

namespace whocall {
namespace {

constexpr Address kFilePage = 4096;

Address page_of(Address address) { return address / kFilePage * kFilePage; }

// Null where there is none, or none that is loaded.
std::shared_ptr<const ElfFile> loadable_at(const std::string& path) {
  try {
    auto file = open_shared(path);
    const bool loaded = file->type() == ET_EXEC || file->type() == ET_DYN;
    return loaded && !file->load_range().empty() ? file : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

const ElfSegment& first_loaded(const ElfFile& file) {
  return *std::ranges::find(file.segments(), std::uint32_t{PT_LOAD}, &ElfSegment::type);
}

void append_mappings(std::vector<Mapping>& mappings, const ElfFile& file, Address bias,
                     const std::string& path) {
  for (const ElfSegment& part : file.segments()) {
    const Address begin = part.address + bias;
    const Address end = page_of(begin + part.file_size + kFilePage - 1);
    if (part.type == PT_LOAD && page_of(begin) < end) {
      mappings.push_back({{page_of(begin), end},
                          (part.flags & PF_R) != 0,
                          (part.flags & PF_W) != 0,
                          (part.flags & PF_X) != 0,
                          page_of(part.offset),
                          path});
    }
  }
}

// What debuggers place the program by.
std::vector<std::byte> auxiliary_of(const ElfFile& file, Address bias, const Architecture& arch) {
  const ElfHeader header = parse_elf_header(file.bytes(), file.path());
  const ElfSegment& first = first_loaded(file);
  ByteSink words(arch.abi.endian, arch.abi.pointer_size);
  words.word(AT_PHDR).word(first.address - first.offset + header.segments_offset + bias);
  words.word(AT_PHENT).word(header.segment_stride).word(AT_PHNUM).word(header.segment_count);
  words.word(AT_PAGESZ).word(kFilePage).word(AT_ENTRY).word(file.entry() + bias);
  words.word(AT_NULL).word(0);
  return std::move(words).take();
}

JoinedRanges ranges_of(const std::vector<Mapping>& mappings) {
  std::vector<AddressRange> ranges;
  for (const Mapping& each : mappings) {
    ranges.push_back(each.range);
  }
  return JoinedRanges(std::move(ranges));
}

}  // namespace

MinidumpAsCore::MinidumpAsCore(std::shared_ptr<const MappedFile> file)
    : file_(std::move(file)), budget_(file_->path(), file_->bytes().size()) {
  const std::string_view text = as_text(file_->bytes());
  is_microdump_ = !text.starts_with(kMinidumpMark);
  if (is_microdump_) {
    Microdump found = read_microdump(text, file_->path(), budget_);
    dump_ = std::move(found.dump);
    own_memory_ = std::move(found.memory);
  } else {
    dump_ = read_minidump(memory(), file_->path(), budget_);
  }
  told_modules_ = dump_.modules;
}

ByteView MinidumpAsCore::memory() const {
  return {is_microdump_ ? std::span<const std::byte>(own_memory_) : file_->bytes(), Endian::little};
}

void MinidumpAsCore::place_libraries(const std::string& sysroot) {
  dump_.modules = told_modules_;
  find_library_places(dump_.modules, sysroot, *dump_.arch);
}

bool MinidumpAsCore::take_program(const std::string& exe) {
  const auto file = loadable_at(exe);
  if (!told_modules_.empty() || file == nullptr || file->type() != ET_EXEC) {
    return false;
  }
  Address end = 0;
  for (const ElfSegment& part : file->segments()) {
    if (part.type == PT_LOAD) {
      end = std::max(end, part.address + part.memory_size);
    }
  }
  told_modules_.push_back({{page_of(first_loaded(*file).address), end}, true, {}, exe});
  dump_.modules = told_modules_;
  return true;
}

void MinidumpAsCore::add_files(const std::map<Address, std::string>& files) {
  const JoinedRanges told = ranges_of(dump_.mappings);
  const bool has_vector = !dump_.auxiliary.empty();
  for (const ToldModule& module : dump_.modules) {
    const auto place = files.lower_bound(module.range.begin);
    const bool inside = place != files.end() && module.range.contains(place->first);
    const auto file = inside ? loadable_at(place->second) : nullptr;
    if (file == nullptr) {
      continue;
    }
    const Address bias = module.range.begin - page_of(first_loaded(*file).address);
    if (!told.contains(module.range.begin)) {
      append_mappings(dump_.mappings, *file, bias, place->second);
    }
    if (module.is_executable && !has_vector) {
      dump_.auxiliary = auxiliary_of(*file, bias, *dump_.arch);
    }
  }
  segments_.reset();
}

const std::vector<CoreSegment>& MinidumpAsCore::segments() {
  if (!segments_) {
    segments_ = core_segments_of(dump_);
  }
  return *segments_;
}

std::unique_ptr<ProcessImage> MinidumpAsCore::open(const std::shared_ptr<MinidumpAsCore>& crash,
                                                   const FileSearch& search) {
  const auto notes = core_notes_of(crash->dump_);
  std::vector<ElfSegment> segments;
  std::vector<SegmentMemory::Segment> memory;
  for (const CoreSegment& part : crash->segments()) {
    segments.push_back(
        {PT_LOAD, part.flags, part.place, part.address, part.held, part.size, kFilePage});
    if (const auto bytes = crash->memory().slice(part.place, part.held); bytes && part.held != 0) {
      memory.push_back({part.address, bytes->bytes()});
    }
  }
  const auto parsed = parse_notes(ByteView(notes, crash->dump_.arch->abi.endian), 4);
  CoreContents contents;
  contents.path = crash->name();
  contents.arch = crash->dump_.arch;
  contents.segments = std::move(segments);
  contents.notes = parsed;
  contents.memory = std::make_unique<SegmentMemory>(
      std::move(memory), std::vector<std::shared_ptr<const void>>{crash});
  contents.source = crash;
  return image_of_core(std::move(contents), search);
}

int MinidumpAsCore::write(int file) {
  return write_core(file, *dump_.arch, core_notes_of(dump_), segments(), memory());
}

}  // namespace whocall
