#include "object/exidx.h"

#include <elf.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "arch/elf_machine.h"
#include "base/interrupt.h"
#include "base/sort_by_address.h"
#include "object/byte_span.h"

namespace whocall {
namespace {

constexpr std::uint32_t kEntrySize = 8;  // bytes: where the function is, and how to unwind it
using rules::arm_index::kCannotUnwind;
using rules::arm_index::kCompact;

std::vector<AddressRange> code_of(const ElfFile& file) {
  std::vector<AddressRange> code;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0) {
      code.push_back({segment.address, segment.address + segment.memory_size});
    }
  }
  return code;
}

// Ascending and apart: a damaged file has any number of them.
std::vector<AddressRange> in_order(std::vector<AddressRange> ranges) {
  std::ranges::sort(ranges, {}, &AddressRange::begin);
  std::vector<AddressRange> joined;
  for (const AddressRange& range : ranges) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

// `ranges` in order.
const AddressRange* range_around(const std::vector<AddressRange>& ranges, Address address) {
  const auto after = std::ranges::upper_bound(ranges, address, {}, &AddressRange::begin);
  return after != ranges.begin() && std::prev(after)->contains(address) ? &*std::prev(after)
                                                                        : nullptr;
}

}  // namespace

Exidx::Exidx(const LoadedPart& index, BytesAt bytes_at, std::vector<AddressRange> code)
    : index_(index), bytes_at_(std::move(bytes_at)), code_(in_order(std::move(code))) {
  const auto size = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(index.bytes.size(), std::numeric_limits<std::uint32_t>::max() / 2));
  starts_.reserve(size / kEntrySize);
  for (std::uint32_t offset = 0; size - offset >= kEntrySize; offset += kEntrySize) {
    check_interrupt_at(offset / kEntrySize, kManyEntries);
    const std::uint32_t word = *index.bytes.read<std::uint32_t>(offset);
    const Address address = rules::arm_target(word, index.address + offset) & ~Address{1};  // T32's
    if ((word & kCompact) == 0 && range_around(code_, address) != nullptr) {
      starts_.push_back({address, offset});
    }
  }
  sort_by_address(starts_, [](const Start& start) { return start.address; });
}

Address Exidx::end_behind(std::size_t number) const {
  const Address end = range_around(code_, starts_[number].address)->end;
  return number + 1 < starts_.size() ? std::min(starts_[number + 1].address, end) : end;
}

ExidxEntry Exidx::at(std::size_t number) const {
  const Start& start = starts_[number];
  ExidxEntry entry{{start.address, end_behind(number)}};
  Address table = 0;
  const auto bytes_at = [&](Address address) {
    table = address;
    return span_of(bytes_at_(address), address);
  };
  const rules::ByteSpan words = span_of(index_.bytes, index_.address);
  rules::ArmEntry found =
      rules::read_arm_entry(words.part(index_.address + start.offset + 4, 4), bytes_at);
  entry.kind = found.kind;
  for (std::uint8_t byte = 0; found.instructions.take(byte);) {
    entry.instructions.push_back(byte);
  }
  if (found.own != 0) {
    entry.exception_table = table + found.own;
  }
  return entry;
}

std::optional<ExidxEntry> Exidx::find(Address link) const {
  const auto after = std::ranges::upper_bound(starts_, link, {}, &Start::address);
  if (after == starts_.begin()) {
    return std::nullopt;
  }
  const auto number = static_cast<std::size_t>(after - starts_.begin()) - 1;
  return link < end_behind(number) ? std::optional(at(number)) : std::nullopt;
}

// Each entry begins where a function does; where functions alike follow one another, the linker
// leaves the first one's only.
//
// Folklore. Situation: the linker adds an entry that nothing can be unwound where code without
// tables follows code that has them. Example: behind the last function of an object file in C++
// that C follows. It stands where the former ends, before the padding of the next function. Remedy:
// such entries tell of no start.
std::vector<Address> Exidx::function_starts() const {
  std::vector<Address> found;
  for (const Start& start : starts_) {
    const std::uint32_t word = *index_.bytes.read<std::uint32_t>(start.offset + 4);
    if (word != kCannotUnwind && (found.empty() || found.back() != start.address)) {
      found.push_back(start.address);
    }
  }
  return found;
}

namespace {

std::optional<LoadedPart> part_at(const ElfFile& file, std::uint64_t offset, std::uint64_t size,
                                  Address address) {
  const auto bytes = file.bytes().slice(offset, size);
  return bytes ? std::optional(LoadedPart{*bytes, address}) : std::nullopt;
}

// By the program header, which is what the runtime goes by, or where a linker's script left that
// out by the section. A separate debug file keeps both but not the bytes: those of others would
// stand there.
std::optional<LoadedPart> part_of(const ElfFile& file) {
  const std::uint32_t type = elf_machine(file.machine()).exception_index;
  const ElfSection* section = file.section(".ARM.exidx");
  if (type == 0 || file.type() == ET_REL || (section != nullptr && section->type == SHT_NOBITS)) {
    return std::nullopt;
  }
  for (const ElfSegment& header : file.segments()) {
    if (header.type == type) {
      return part_at(file, header.offset, header.file_size, header.address);
    }
  }
  return section != nullptr ? part_at(file, section->offset, section->size, section->address)
                            : std::nullopt;
}

struct FileIndex {
  std::unique_ptr<const Exidx> index;
};

FileIndex read_index(const ElfFile& file) {
  const auto part = part_of(file);
  return {part ? std::make_unique<Exidx>(
                     *part, [&file](Address address) { return file.at(address); }, code_of(file))
               : nullptr};
}

}  // namespace

const Exidx* exception_index_of(const ElfFile& file) {
  return file.attachments().get<FileIndex>([&] { return read_index(file); }).index.get();
}

}  // namespace whocall
