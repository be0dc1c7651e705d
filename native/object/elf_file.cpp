#include "object/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/mapped_file.h"
#include "object/elf_decompress.h"
#include "object/elf_header.h"
#include "object/range_index.h"

namespace whocall {
namespace {

std::string_view text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.bytes().data()), bytes.size()};
}

// An index over `items` by address: those that `wanted` accepts, in the order of `range_of`.
template <typename Item, typename Wanted, typename RangeOf>
std::vector<RangePiece> index_ranges(const std::vector<Item>& items, Wanted wanted,
                                     RangeOf range_of) {
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (wanted(items[i])) {
      order.push_back(static_cast<std::uint32_t>(i));
    }
  }
  const auto begin_of = [&](std::uint32_t i) { return range_of(items[i]).begin; };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
    return begin_of(left) < begin_of(right);
  });
  auto pieces = flatten_ranges(static_cast<std::uint32_t>(order.size()),
                               [&](std::uint32_t i) { return range_of(items[order[i]]); });
  for (RangePiece& piece : pieces) {
    piece.owner = piece.owner == kNoRange ? kNoRange : order[piece.owner];
  }
  return pieces;
}

bool is_loaded(const ElfSection& section) {
  // .tbss has an address but no bytes there: what follows it has the same addresses.
  const bool thread_zeros = section.type == SHT_NOBITS && (section.flags & SHF_TLS) != 0;
  return (section.flags & SHF_ALLOC) != 0 && section.size != 0 && !thread_zeros;
}

}  // namespace

struct ElfFile::Data {
  std::string path;
  std::shared_ptr<const MappedFile> mapping;
  std::vector<std::byte> image;
  ByteView bytes;
  ElfHeader header;
  std::string damage;
  std::string build_id;
  std::vector<ElfSegment> segments;
  std::vector<ElfSection> sections;
  std::vector<RangePiece> segments_by_address;  // over the bytes that PT_LOADs take from the file
  std::vector<RangePiece> sections_by_address;
  std::mutex mutex;  // guards `inflated`: contents() is const and may be called from threads
  std::unordered_map<std::uint32_t, std::optional<OwnedBytes>> inflated;
  std::shared_ptr<Budget> budget;
  Attachments attachments;

  void parse(std::span<const std::byte> input, Budget* whole = nullptr);
};

void ElfFile::Data::parse(std::span<const std::byte> input, Budget* whole) {
  // What was unpacked or made of another dump has no name that people know.
  const bool named = !path.starts_with("/proc/");
  budget = std::make_shared<Budget>(named ? path : "The file", input.size(), whole);
  header = parse_elf_header(ByteView(input, Endian::little), path);
  bytes = ByteView(input, header.identity.endian);
  segments = parse_segments(bytes, header);
  sections = parse_sections(bytes, header);
  damage = header.damage.empty() ? missing_bytes(bytes, header, segments, sections) : header.damage;
  segments_by_address = index_ranges(
      segments, [](const ElfSegment& segment) { return segment.type == PT_LOAD; },
      [](const ElfSegment& segment) {
        return AddressRange{segment.address, end_of(segment.address, segment.file_size)};
      });
  sections_by_address = index_ranges(sections, is_loaded, [](const ElfSection& section) {
    return AddressRange{section.address, end_of(section.address, section.size)};
  });
}

std::shared_ptr<const ElfFile> ElfFile::open(const std::string& path) {
  auto data = std::make_unique<Data>();
  data->path = path;
  data->mapping = MappedFile::open(path);
  data->parse(data->mapping->bytes());
  return std::shared_ptr<const ElfFile>(new ElfFile(std::move(data)));
}

std::shared_ptr<const ElfFile> ElfFile::from_memory(std::vector<std::byte> image,
                                                    const std::string& name, Budget* whole) {
  auto data = std::make_unique<Data>();
  data->path = name;
  data->image = std::move(image);
  data->parse(data->image, whole);
  return std::shared_ptr<const ElfFile>(new ElfFile(std::move(data)));
}

ElfFile::ElfFile(std::unique_ptr<Data> data) : data_(std::move(data)) {
  if (type() != ET_CORE) {  // which has none of its own, and many notes
    data_->build_id = find_build_id(*this);
  }
}

ElfFile::~ElfFile() = default;

const std::string& ElfFile::path() const { return data_->path; }
std::uint16_t ElfFile::type() const { return data_->header.type; }
const ElfIdentity& ElfFile::identity() const { return data_->header.identity; }
std::uint16_t ElfFile::machine() const { return identity().machine; }
unsigned ElfFile::pointer_size() const { return data_->header.identity.pointer_size; }
Endian ElfFile::endian() const { return data_->header.identity.endian; }
Address ElfFile::entry() const { return data_->header.entry; }
ByteView ElfFile::bytes() const { return data_->bytes; }
const std::string& ElfFile::damage() const { return data_->damage; }
const std::string& ElfFile::build_id() const { return data_->build_id; }
std::span<const ElfSegment> ElfFile::segments() const { return data_->segments; }
std::span<const ElfSection> ElfFile::sections() const { return data_->sections; }

const ElfSection* ElfFile::section(std::string_view name) const {
  const auto found = std::find_if(data_->sections.begin(), data_->sections.end(),
                                  [&](const ElfSection& each) { return each.name == name; });
  return found == data_->sections.end() ? nullptr : &*found;
}

const ElfSection* ElfFile::section_at(Address address) const {
  const std::uint32_t index = find_range(data_->sections_by_address, address);
  return index == kNoRange ? nullptr : &data_->sections[index];
}

std::optional<ByteView> ElfFile::contents(const ElfSection& section) const {
  if (section.type == SHT_NOBITS) {
    return std::nullopt;
  }
  const auto stored = data_->bytes.slice(section.offset, section.size);
  const bool compressed = (section.flags & SHF_COMPRESSED) != 0;
  if (!stored || (!compressed && !section.name.starts_with(".zdebug"))) {
    return stored;
  }
  const std::lock_guard lock(data_->mutex);
  auto known = data_->inflated.find(section.index);
  if (known == data_->inflated.end()) {  // nothing is noted before it is whole: Ctrl-C may end it
    auto bytes = compressed ? decompress_section(*stored, pointer_size(), budget())
                            : decompress_zdebug(*stored, budget());
    known = data_->inflated.emplace(section.index, std::move(bytes)).first;
  }
  const std::optional<OwnedBytes>& inflated = known->second;
  return inflated ? std::optional(ByteView({inflated->data.get(), inflated->size}, endian()))
                  : std::nullopt;
}

ByteView ElfFile::at(Address address) const {
  const std::uint32_t index = find_range(data_->segments_by_address, address);
  if (index == kNoRange) {
    return ByteView({}, endian());
  }
  const ElfSegment& segment = data_->segments[index];
  const std::uint64_t skipped = address - segment.address;
  const ByteView rest = data_->bytes.from(segment.offset).from(skipped);
  return *rest.slice(0, std::min<std::uint64_t>(segment.file_size - skipped, rest.size()));
}

std::vector<ElfNote> ElfFile::notes() const {
  std::vector<ElfNote> notes;
  const auto add = [&](std::uint64_t offset, std::uint64_t size, std::uint64_t alignment) {
    const ByteView rest = data_->bytes.from(offset);
    const auto area = rest.slice(0, std::min<std::uint64_t>(size, rest.size()));
    const auto found = parse_notes(*area, alignment, budget());
    notes.insert(notes.end(), found.begin(), found.end());
  };
  if (type() != ET_CORE) {
    for (const ElfSection& section : data_->sections) {
      if (section.type == SHT_NOTE && (section.flags & SHF_ALLOC) != 0) {
        add(section.offset, section.size, section.alignment);
      }
    }
  }
  for (const ElfSegment& segment : data_->segments) {
    if (segment.type == PT_NOTE && (type() == ET_CORE || data_->sections.empty())) {
      add(segment.offset, segment.file_size, segment.alignment);
    }
  }
  return notes;
}

std::string ElfFile::interpreter() const {
  for (const ElfSegment& segment : data_->segments) {
    if (segment.type == PT_INTERP) {
      const auto text = data_->bytes.slice(segment.offset, segment.file_size);
      const std::string_view path = text ? text_of(*text) : std::string_view();
      return std::string(path.substr(0, path.find('\0')));
    }
  }
  return {};
}

Budget& ElfFile::budget() const { return *data_->budget; }
Attachments& ElfFile::attachments() const { return data_->attachments; }

AddressRange ElfFile::load_range() const {
  AddressRange range{std::numeric_limits<Address>::max(), 0};
  for (const ElfSegment& segment : data_->segments) {
    if (segment.type == PT_LOAD) {
      range.begin = std::min(range.begin, segment.address);
      range.end = std::max(range.end, end_of(segment.address, segment.memory_size));
    }
  }
  return range.empty() ? AddressRange{} : range;
}

}  // namespace whocall
