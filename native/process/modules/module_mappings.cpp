#include "process/modules/module_mappings.h"

#include <elf.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "process/disjoint_mappings.h"
#include "process/modules/loaded_object.h"

namespace whocall {
namespace {

void take_protection(const ElfSegment& segment, Mapping& mapping) {
  mapping.readable = (segment.flags & PF_R) != 0;
  mapping.writable = (segment.flags & PF_W) != 0;
  mapping.executable = (segment.flags & PF_X) != 0;
  mapping.permissions_known = true;
}

// The segment that a mapping from `begin` on is of, which begins with the page that the segment
// begins in; a miss where the file has none there.
const ElfSegment* segment_at(const Module& module, Address begin) {
  for (const std::uint64_t page : kPageSizes) {
    for (const ElfSegment& segment : module.file->segments()) {
      const Address first = module.runtime_address(segment.address) / page * page;
      const Address end = module.runtime_address(segment.address + segment.memory_size);
      if (segment.type == PT_LOAD && AddressRange{first, end}.contains(begin)) {
        return &segment;
      }
    }
  }
  return nullptr;
}

// Protections that the core does not tell are the segments'.
void complete_permissions(ProcessImage& image) {
  for (Mapping& mapping : image.mappings) {
    const Module* module =
        mapping.permissions_known ? nullptr : image.module_at(mapping.range.begin);
    if (module == nullptr || module->file == nullptr) {
      continue;
    }
    if (const ElfSegment* segment = segment_at(*module, mapping.range.begin); segment != nullptr) {
      take_protection(*segment, mapping);
    }
  }
}

// Appends what `whole` has that no mapping of the image covers: only what it begins with, where the
// image tells all that was mapped and a dumper left this out.
void append_rest(const ProcessImage& image, const Mapping& whole, std::vector<Mapping>& added) {
  Address begin = whole.range.begin;
  auto next = std::ranges::upper_bound(image.mappings, begin, {},
                                       [](const Mapping& known) { return known.range.end; });
  const bool begun = next != image.mappings.end() && next->range.contains(begin);
  if (begun && !image.partial_map) {
    return;
  }
  while (begin < whole.range.end) {
    const bool last = next == image.mappings.end() || next->range.begin >= whole.range.end;
    const Address end = last ? whole.range.end : next->range.begin;
    if (begin < end) {
      Mapping piece = whole;
      piece.range = {begin, end};
      piece.offset += begin - whole.range.begin;
      added.push_back(std::move(piece));
    }
    if (last || !image.partial_map) {
      break;
    }
    begin = next->range.end;
    ++next;
  }
}

// Some dumpers leave out the mappings that they do not dump, NT_FILE included. The files know.
//
// Folklore. Situation: a dump holds pieces of a library's code, as Crashpad and Breakpad keep some
// bytes around every program counter, and its mappings are not told. Example: Chromium's dump has
// 512 bytes of libc around each thread's system call; what lay behind them in the same segment was
// no code, and walks ended there. Remedy: each gap between the pieces is the file's.
void add_mappings_of_modules(ProcessImage& image) {
  std::vector<Mapping> added;
  for (const Module& module : image.modules) {
    if (module.file == nullptr) {
      continue;
    }
    for (const ElfSegment& segment : module.file->segments()) {
      if (segment.type != PT_LOAD) {
        continue;
      }
      const Address begin = module.runtime_address(segment.address);
      Mapping mapping;
      mapping.range = {begin, begin + segment.memory_size};
      take_protection(segment, mapping);
      mapping.offset = segment.offset;
      mapping.path = module.path;
      append_rest(image, mapping, added);
    }
  }
  std::ranges::move(added, std::back_inserter(image.mappings));
  make_disjoint(image.mappings);
}

// Of a listed module whose file is not to be had nothing is known but where it lies: any of it may
// be code.
void add_told_mappings(ProcessImage& image, std::span<const ToldModule> told) {
  std::vector<Mapping> added;
  for (const ToldModule& module : told) {
    const Module* known = image.module_at(module.range.begin);
    if (known != nullptr && known->file != nullptr) {
      continue;
    }
    Mapping mapping;
    mapping.range = module.range;
    mapping.readable = true;
    mapping.executable = true;
    mapping.path = module.path;
    mapping.permissions_known = false;
    append_rest(image, mapping, added);
  }
  std::ranges::move(added, std::back_inserter(image.mappings));
  make_disjoint(image.mappings);
}

}  // namespace

void complete_mappings(ProcessImage& image, std::span<const ToldModule> told) {
  if (!told.empty()) {
    add_told_mappings(image, told);
  }
  if (!image.mappings.empty()) {
    complete_permissions(image);
    add_mappings_of_modules(image);
  }
}

void name_vdso(ProcessImage& image, std::optional<Address> vdso) {
  for (Mapping& mapping : image.mappings) {
    if (vdso && mapping.range.contains(*vdso) && mapping.path.empty()) {
      mapping.path = "[vdso]";
    }
  }
}

}  // namespace whocall
