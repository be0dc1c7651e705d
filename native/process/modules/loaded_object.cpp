#include "process/modules/loaded_object.h"

#include <elf.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "object/embedded_file.h"

namespace whocall {
namespace {

constexpr std::uint64_t kPage = kPageSizes.front();
constexpr std::uint64_t kLargestPage = kPageSizes.back();

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

MappedPiece piece_of(const Mapping& mapping) {
  return {mapping.range, mapping.offset, mapping.executable, !mapping.permissions_known,
          mapping.writable};
}

// The bias at which `segment` explains `piece`; a miss when the piece is not part of it.
std::optional<Address> bias_of_piece(const ElfSegment& segment, const MappedPiece& piece) {
  const std::uint64_t slack = segment.offset % kLargestPage;  // the page's bytes before the segment
  const bool before = piece.offset < segment.offset && segment.offset - piece.offset <= slack;
  const bool inside = piece.offset >= segment.offset &&
                      piece.offset - segment.offset < round_up(segment.file_size, kPage);
  const Address bias = piece.range.begin - (segment.address + (piece.offset - segment.offset));
  if (segment.type != PT_LOAD || segment.file_size == 0 || !(before || inside) ||
      bias % kPage != 0) {
    return std::nullopt;
  }
  return bias;
}

bool explains(std::span<const ElfSegment> segments, const MappedPiece& piece, Address bias) {
  return std::ranges::any_of(
      segments, [&](const ElfSegment& segment) { return bias_of_piece(segment, piece) == bias; });
}

// Whether the mapping is the page of data of a file whose code began with the same page, and ended
// where it begins, with the gap that linkers leave between the two.
bool is_page_of_data(const LoadedObject& object, const Mapping& mapping) {
  const MappedPiece& first = object.pieces.front();
  return first.offset == 0 && first.executable && !first.guessed && mapping.permissions_known &&
         !mapping.executable && mapping.range.begin == object.pieces.back().range.end;
}

// Whether the mapping can go on with the file of an archive that `last` is a part of: what loaders
// map of a file follows one another, in the file and in memory, and ends with what can be written.
bool follows(const MappedPiece& last, const Mapping& mapping) {
  return mapping.offset >= last.offset &&
         mapping.offset - last.offset <= last.range.size() + kLargestPage &&
         mapping.range.begin - last.range.end <= kLargestPage &&
         (mapping.writable || !last.writable);
}

// Whether the mapping begins another loading of the same file. Offset 0 alone does not say so: a
// small program maps its first page twice, once as code and once as data.
bool begins_new_object(const LoadedObject& object, const Mapping& mapping) {
  if (is_archive_name(object.path)) {
    return !follows(object.pieces.back(), mapping);
  }
  if (object.image) {
    return mapping.range.begin >= round_up(object.range().end, kLargestPage);
  }
  return mapping.offset == 0 && object.pieces.back().offset != 0 &&
         !is_page_of_data(object, mapping);
}

// Whether the header that lies in `mapping` too is the object's own. Folklore. Situation: a file's
// first page is mapped twice, because what follows the code of a small file is in that page as
// well. Example: whatever linkers made before 2018 that is smaller than a page; lld's files today.
// Where a core leaves out code (coredump_filter 0x23), the copy beside the data is the only header,
// and lies as far behind the place of the file as the linker put the data. Remedy: the place is one
// at which the segments explain both mappings.
std::optional<LoadedElf> image_by_copy(const LoadedObject& object, const Mapping& mapping,
                                       const Memory& memory, const Architecture& arch) {
  auto image = object.image || mapping.offset != 0
                   ? std::nullopt
                   : read_loaded_elf(memory, mapping.range.begin, arch);
  if (!image) {
    return std::nullopt;
  }
  const MappedPiece copy = piece_of(mapping);
  for (const ElfSegment& segment : image->segments) {
    const auto bias = bias_of_piece(segment, copy);
    if (bias && explains(image->segments, object.pieces.front(), *bias)) {
      image->bias = *bias;
      return image;
    }
  }
  return std::nullopt;
}

// Folklore. Situation: a library has a page of its own code in memory once more, beside writable
// data: libffi so makes closures, without memory that can be written and executed. Mapped alone,
// that page looked like another loading of which the file is laid out differently. Remedy: a
// loading begins with the beginning of its file, as every loader maps that, where the first loading
// did.
bool is_apart(const LoadedObject& whole, const Mapping& mapping) {
  return whole.image && mapping.offset != 0 && !is_archive_name(whole.path) &&
         begins_new_object(whole, mapping);
}

// Shared anonymous memory and devices have names that look like files; gdb also passes the kernel's
// names on: "[vsyscall]" is executable, cannot be read and belongs to no file.
bool is_pseudo_file(std::string_view path) {
  return path.starts_with('[') || path.starts_with("/dev/") || path.starts_with("/memfd:") ||
         path.starts_with("/SYSV");
}

bool may_be_module(const LoadedObject& object, const Memory& memory) {
  if (object.image) {
    // ELF files that are only read (by a debugger, say) are one piece without code.
    return object.pieces.size() > 1 || object.pieces.front().executable;
  }
  const auto first = std::ranges::find(object.pieces, std::uint64_t{0}, &MappedPiece::offset);
  const bool header_is_readable =
      first != object.pieces.end() && !memory.run_at(first->range.begin).empty();
  // Nothing is known of a file's only mapping but its name: by far most of them are data.
  const bool only_a_name = object.pieces.size() == 1 && object.pieces.front().guessed &&
                           object.path.find(".so") == std::string::npos;
  return !header_is_readable && !only_a_name && !is_pseudo_file(object.path) &&
         std::ranges::any_of(object.pieces, &MappedPiece::executable);
}

// The pages that a segment's file bytes are mapped to.
AddressRange pages_of(const ElfSegment& segment, Address bias, std::uint64_t page) {
  const Address begin = segment.address + bias;
  return {begin / page * page, round_up(begin + segment.file_size, page)};
}

bool is_code(const ElfSegment& segment) {
  return segment.type == PT_LOAD && segment.file_size > 0 && (segment.flags & PF_X) != 0;
}

// Most builds of a library differ in the size of their code. The kernel never merges a mapping of
// code with its neighbours, so both ends must be there; the code may have been split in between.
bool code_agrees(std::span<const ElfSegment> segments, std::span<const MappedPiece> pieces,
                 Address bias, std::uint64_t page) {
  std::vector<MappedPiece> code;
  std::ranges::copy_if(pieces, std::back_inserter(code), &MappedPiece::executable);
  for (const ElfSegment& segment : segments) {
    const AddressRange pages = pages_of(segment, bias, page);
    const bool begins = std::ranges::any_of(
        code, [&](const MappedPiece& piece) { return piece.range.begin == pages.begin; });
    const bool ends = std::ranges::any_of(
        code, [&](const MappedPiece& piece) { return piece.range.end == pages.end; });
    if (is_code(segment) && !(begins && ends)) {
      return false;
    }
  }
  return std::ranges::all_of(code, [&](const MappedPiece& piece) {
    return piece.guessed || std::ranges::any_of(segments, [&](const ElfSegment& segment) {
             const AddressRange pages = pages_of(segment, bias, page);
             return is_code(segment) && piece.range.begin >= pages.begin &&
                    piece.range.end <= pages.end;
           });
  });
}

bool code_agrees(std::span<const ElfSegment> segments, std::span<const MappedPiece> pieces,
                 Address bias) {
  return std::ranges::any_of(
      kPageSizes, [&](std::uint64_t page) { return code_agrees(segments, pieces, bias, page); });
}

// What a damaged or hostile file may say; each module costs as many steps as these two multiplied.
constexpr std::size_t kMostPieces = 1024;   // loaders map a dozen
constexpr std::size_t kMostSegments = 256;  // linkers write four to ten

std::vector<ElfSegment> loaded_segments(std::span<const ElfSegment> segments) {
  std::vector<ElfSegment> loaded;
  std::ranges::copy_if(segments, std::back_inserter(loaded),
                       [](const ElfSegment& segment) { return segment.type == PT_LOAD; });
  return loaded;
}

// A piece that some segment explains at the bias.
struct Vote {
  Address bias = 0;
  std::size_t piece = 0;
  auto operator<=>(const Vote&) const = default;
};

// Sorted; each piece has one at most for each bias.
std::vector<Vote> votes_of(std::span<const ElfSegment> segments,
                           std::span<const MappedPiece> pieces) {
  std::vector<Vote> votes;
  for (std::size_t at = 0; at < pieces.size(); ++at) {
    for (const ElfSegment& segment : segments) {
      if (const auto bias = bias_of_piece(segment, pieces[at])) {
        votes.push_back({*bias, at});
      }
    }
  }
  std::ranges::sort(votes);
  votes.erase(std::unique(votes.begin(), votes.end()), votes.end());
  return votes;
}

}  // namespace

AddressRange LoadedObject::range() const {
  if (pe) {
    return pe->range;
  }
  AddressRange range = image ? loaded_range(image->segments, image->bias) : AddressRange{};
  if (range.empty() && !pieces.empty()) {
    range = {pieces.front().range.begin, pieces.back().range.end};
  }
  return range.empty() ? by_file : range;
}

std::vector<LoadedObject> group_mappings(std::span<const Mapping> mappings, const Memory& memory,
                                         const Architecture& arch, Budget& budget) {
  std::vector<LoadedObject> objects;
  std::unordered_map<std::string_view, std::size_t> current;  // by path: index of its last object
  for (const Mapping& mapping : mappings) {
    if (mapping.path.empty()) {
      continue;
    }
    const auto known = current.find(mapping.path);
    if (known != current.end() && is_apart(objects[known->second], mapping)) {
      continue;
    }
    if (known != current.end()) {
      LoadedObject& object = objects[known->second];
      if (auto image = image_by_copy(object, mapping, memory, arch)) {
        object.image = std::move(image);
      }
    }
    const bool may_begin = mapping.offset == 0 || is_archive_name(mapping.path);
    auto image = may_begin ? read_loaded_elf(memory, mapping.range.begin, arch) : std::nullopt;
    if (known == current.end() || (image && mapping.offset != 0) ||
        begins_new_object(objects[known->second], mapping)) {
      if (!budget.draw(Cost::mapped, 1)) {
        break;
      }
      current[mapping.path] = objects.size();
      LoadedObject object;
      object.path = mapping.path;
      object.image = std::move(image);
      objects.push_back(std::move(object));
    }
    objects[current[mapping.path]].pieces.push_back(piece_of(mapping));
  }
  std::erase_if(objects,
                [&](const LoadedObject& object) { return !may_be_module(object, memory); });
  return objects;
}

std::optional<Address> bias_of_pieces(std::span<const ElfSegment> segments,
                                      std::span<const MappedPiece> pieces) {
  pieces = pieces.first(std::min(pieces.size(), kMostPieces));
  const std::vector<ElfSegment> loaded = loaded_segments(segments);
  if (loaded.size() > kMostSegments) {
    return std::nullopt;
  }
  // Any piece that the file explains gives a bias; a page that two segments share gives two.
  const std::vector<Vote> votes = votes_of(loaded, pieces);
  std::optional<Address> best;
  std::ptrdiff_t best_count = 0;
  for (const MappedPiece& piece : pieces.first(std::min<std::size_t>(pieces.size(), 16))) {
    for (const ElfSegment& segment : loaded) {
      const auto bias = bias_of_piece(segment, piece);
      if (!bias || bias == best) {
        continue;
      }
      const auto first = std::ranges::lower_bound(votes, *bias, {}, &Vote::bias);
      const auto last = std::ranges::upper_bound(votes, *bias, {}, &Vote::bias);
      if (last - first > best_count) {
        best = bias;
        best_count = last - first;
      }
    }
  }
  return best && code_agrees(loaded, pieces, *best) ? best : std::nullopt;
}

std::optional<Address> bias_of_pieces(const ElfFile& file, std::vector<MappedPiece> pieces) {
  const std::uint64_t offset = offset_in_container(file);
  std::erase_if(pieces, [&](const MappedPiece& piece) { return piece.offset < offset; });
  for (MappedPiece& piece : pieces) {
    piece.offset -= offset;
  }
  return bias_of_pieces(file.segments(), pieces);
}

bool code_is_executable(std::span<const ElfSegment> segments, Address bias,
                        std::span<const Mapping> mappings) {
  return std::ranges::all_of(segments, [&](const ElfSegment& segment) {
    const Address begin = segment.address + bias;
    const Address end = begin + segment.file_size;
    return !is_code(segment) || std::ranges::all_of(mappings, [&](const Mapping& mapping) {
      const bool touched = mapping.range.begin < end && begin < mapping.range.end;
      return !touched || mapping.executable || !mapping.permissions_known;
    });
  });
}

}  // namespace whocall
