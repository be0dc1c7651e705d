#include "process/core/core_mappings.h"

#include <elf.h>

#include <algorithm>
#include <limits>

#include "process/disjoint_mappings.h"

namespace whocall {
namespace {

std::vector<Mapping> from_segments(std::span<const ElfSegment> segments) {
  std::vector<Mapping> mappings;
  for (const ElfSegment& segment : segments) {
    if (segment.type != PT_LOAD || segment.memory_size == 0) {
      continue;
    }
    Mapping mapping;
    const Address room = std::numeric_limits<Address>::max() - segment.address;
    mapping.range = {segment.address, segment.address + std::min(segment.memory_size, room)};
    mapping.readable = (segment.flags & PF_R) != 0;
    mapping.writable = (segment.flags & PF_W) != 0;
    mapping.executable = (segment.flags & PF_X) != 0;
    mappings.push_back(std::move(mapping));
  }
  make_disjoint(mappings);
  return mappings;
}

std::vector<Mapping> from_files(std::span<const MappedFileNote> files) {
  std::vector<Mapping> mappings;
  for (const MappedFileNote& file : files) {
    Mapping mapping;
    mapping.range = file.range;
    mapping.offset = file.offset;
    mapping.path = file.path;
    mapping.readable = true;
    mapping.executable = true;
    mapping.permissions_known = false;
    mappings.push_back(std::move(mapping));
  }
  make_disjoint(mappings);
  return mappings;
}

// The part of `whole` inside `range`, with the protection of `protection`.
Mapping part_of(const Mapping& whole, AddressRange range, const Mapping& protection) {
  Mapping part = whole;
  part.range = range;
  part.offset = whole.path.empty() ? 0 : whole.offset + (range.begin - whole.range.begin);
  part.readable = protection.readable;
  part.writable = protection.writable;
  part.executable = protection.executable;
  part.permissions_known = protection.permissions_known;
  return part;
}

}  // namespace

std::vector<Mapping> core_mappings(std::span<const ElfSegment> segments,
                                   std::span<const MappedFileNote> notes) {
  const std::vector<Mapping> memory = from_segments(segments);
  const std::vector<Mapping> files = from_files(notes);
  std::vector<Mapping> result;
  // Both lists are sorted: walk them together, from one boundary to the next.
  auto segment = memory.begin();
  auto file = files.begin();
  Address position = 0;
  while (segment != memory.end() || file != files.end()) {
    if (segment != memory.end() && segment->range.end <= position) {
      ++segment;
      continue;
    }
    if (file != files.end() && file->range.end <= position) {
      ++file;
      continue;
    }
    Address next = std::numeric_limits<Address>::max();
    const auto note_boundary = [&](const Mapping& mapping) {
      next =
          std::min(next, mapping.range.begin > position ? mapping.range.begin : mapping.range.end);
    };
    const bool in_segment = segment != memory.end() && segment->range.contains(position);
    const bool in_file = file != files.end() && file->range.contains(position);
    if (segment != memory.end()) {
      note_boundary(*segment);
    }
    if (file != files.end()) {
      note_boundary(*file);
    }
    if (in_segment || in_file) {
      result.push_back(
          part_of(in_file ? *file : *segment, {position, next}, in_segment ? *segment : *file));
    }
    position = next;
  }
  return result;
}

}  // namespace whocall
