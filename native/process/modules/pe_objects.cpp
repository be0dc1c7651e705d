#include "process/modules/pe_objects.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "object/pe_file.h"
#include "object/pe_headers.h"

namespace whocall {
namespace {

constexpr std::uint64_t kMostHeaders = 16384;                  // bytes
constexpr std::uint64_t kMostImage = std::uint64_t{1} << 30U;  // bytes
constexpr std::size_t kMostAsked = 1024;                       // files, whether they are PE
constexpr std::uint64_t kComparedOfSection = 4096;             // bytes of each section of code
constexpr std::uint64_t kWidestGap = std::uint64_t{1} << 17U;  // bytes between sections
constexpr std::size_t kMostPieces = 512;                       // mappings of one loading

std::vector<std::byte> read_at(const Memory& memory, Address address, std::uint64_t size) {
  std::vector<std::byte> bytes(size);
  bytes.resize(memory.read(address, bytes));
  return bytes;
}

// The mappings from `first` on that one loading may have: each begins where the one before ends,
// and is of the same file or of none; behind a gap, of the same file.
//
// Folklore. Situation: sections that are smaller than a page lie in the file's first page, as its
// headers do. Example: .NET maps the first page of System.Runtime.dll three times, 64 KiB apart,
// the last time as code. Remedy: that page begins another loading where it stands behind the code.
std::span<const Mapping> run_from(std::span<const Mapping> mappings, std::size_t first) {
  const std::string& path = mappings[first].path;
  const auto is_surely_code = [](const Mapping& mapping) {
    return mapping.executable && mapping.permissions_known;
  };
  bool code_seen = is_surely_code(mappings[first]);
  const std::size_t last = std::min(mappings.size(), first + kMostPieces);
  std::size_t end = first + 1;
  for (; end < last; ++end) {
    const Mapping& next = mappings[end];
    const Address gap = next.range.begin - mappings[end - 1].range.end;
    const bool same_file = next.path == path && (next.offset != 0 || !code_seen);
    if (!(same_file && gap <= kWidestGap) && !(gap == 0 && next.path.empty())) {
      break;
    }
    code_seen = code_seen || is_surely_code(next);
  }
  return mappings.subspan(first, end - first);
}

bool has_code(std::span<const Mapping> run) {
  return std::ranges::any_of(run, [](const Mapping& mapping) {
    return mapping.executable && (mapping.permissions_known || !mapping.path.empty());
  });
}

bool has_name_of_pe(std::string_view path) {
  static constexpr std::array<std::string_view, 7> kEnds = {".dll", ".exe", ".drv", ".sys",
                                                            ".ocx", ".cpl", ".acm"};
  std::string end(path.substr(path.size() - std::min<std::size_t>(path.size(), 4)));
  std::ranges::transform(end, end.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return std::ranges::find(kEnds, end) != kEnds.end();
}

// Sorted, so that each question costs a search by halves: a core may name as many files as it
// likes.
using Ranges = std::vector<AddressRange>;

Ranges ranges_of_images(const std::vector<LoadedObject>& objects) {
  Ranges found;
  for (const LoadedObject& object : objects) {
    if (object.image) {
      found.push_back(object.range());
    }
  }
  std::ranges::sort(found, {}, &AddressRange::begin);
  return found;
}

bool any_contains(const Ranges& ranges, Address address) {
  const auto behind = std::ranges::upper_bound(ranges, address, {}, &AddressRange::begin);
  return behind != ranges.begin() && std::prev(behind)->contains(address);
}

// The object that begins with the run; a miss where memory says that it is no PE file.
std::optional<LoadedObject> object_of(std::span<const Mapping> run, const Memory& memory) {
  const Mapping& first = run.front();
  LoadedObject object;
  object.path = first.path;
  object.begin = first.range.begin;
  PePlace& place = object.pe.emplace();
  place.range = {first.range.begin, run.back().range.end};
  place.headers = read_at(memory, first.range.begin,
                          std::min(first.range.end - first.range.begin, kMostHeaders));
  if (!place.headers.empty()) {
    const auto headers = read_pe_headers(ByteView(place.headers, Endian::little));
    if (!headers || headers->image_size == 0) {
      return std::nullopt;
    }
    place.range.end = std::min<Address>(place.range.end, first.range.begin + headers->image_size);
  }
  for (const Mapping& mapping : run) {
    if (!mapping.path.empty() && mapping.range.begin < place.range.end) {
      object.pieces.push_back(
          {mapping.range, mapping.offset, mapping.executable, !mapping.permissions_known});
    }
  }
  return object;
}

// The headers behind the signature "PE", without the address that the loader writes there.
std::vector<std::byte> compared_headers(ByteView bytes, const PeHeaders& headers) {
  const std::uint64_t begin = bytes.read<std::uint32_t>(0x3c).value_or(0);
  const std::uint64_t size = 24 + (headers.wide ? 240 : 224) + headers.sections.size() * 40;
  const ByteView rest = bytes.from(begin);
  const auto part = rest.slice(0, std::min<std::uint64_t>(size, rest.size()))->bytes();
  std::vector<std::byte> result(part.begin(), part.end());
  const std::uint64_t field = headers.base_field - begin;
  for (std::uint64_t at = field; at < std::min<std::uint64_t>(field + 8, result.size()); ++at) {
    result[at] = std::byte{0};
  }
  return result;
}

bool same_headers(ByteView file, ByteView memory) {
  const auto ours = read_pe_headers(file);
  const auto theirs = read_pe_headers(memory);
  return ours && theirs && compared_headers(file, *ours) == compared_headers(memory, *theirs);
}

// Whether the code in memory is the file's. A debugger's breakpoints, hooks and what the loader
// relocated make a few bytes differ; another build differs in most.
bool same_code(const ElfFile& file, const ElfSegment& segment, Address bias, const Memory& memory) {
  const auto size = std::min<std::uint64_t>(segment.file_size, kComparedOfSection);
  const auto theirs = read_at(memory, segment.address + bias, size);
  const auto ours = file.at(segment.address).bytes();
  std::size_t differ = 0;
  for (std::size_t at = 0; at < std::min(theirs.size(), ours.size()); ++at) {
    differ += theirs[at] != ours[at] ? 1 : 0;
  }
  return differ <= theirs.size() / 8;
}

bool may_be_code(AddressRange range, std::span<const Mapping> mappings) {
  return std::ranges::all_of(mappings, [&](const Mapping& mapping) {
    const bool touched = mapping.range.begin < range.end && range.begin < mapping.range.end;
    return !touched || mapping.executable || !mapping.permissions_known;
  });
}

}  // namespace

void take_pe_objects(std::span<const Mapping> mappings, const Memory& memory,
                     const std::function<bool(const LoadedObject&)>& has_file,
                     std::vector<LoadedObject>& objects) {
  const Ranges images = ranges_of_images(objects);
  Ranges taken;
  std::vector<LoadedObject> found;
  std::size_t asked = 0;
  const auto is_pe = [&](const LoadedObject& object) {
    return !object.pe->headers.empty() || has_name_of_pe(object.path) ||
           (asked++ < kMostAsked && has_file(object));
  };
  for (std::size_t at = 0; at < mappings.size(); ++at) {
    check_interrupt_at(at, kManyEntries);
    const Mapping& mapping = mappings[at];
    if (!mapping.path.starts_with('/') || mapping.offset != 0 ||
        any_contains(images, mapping.range.begin) ||  // an ELF file whose headers lie elsewhere
        (!taken.empty() && taken.back().contains(mapping.range.begin))) {
      continue;
    }
    const auto run = run_from(mappings, at);
    auto object = has_code(run) ? object_of(run, memory) : std::nullopt;
    if (object && is_pe(*object)) {
      taken.push_back(object->pe->range);
      found.push_back(std::move(*object));
    }
  }
  std::erase_if(objects, [&](const LoadedObject& other) {
    return !other.image && any_contains(taken, other.range().begin);
  });
  std::ranges::move(found, std::back_inserter(objects));
}

bool is_pe_of(const LoadedObject& object, const ElfFile& file, std::span<const Mapping> mappings,
              const Memory& memory) {
  const ByteView headers = pe_headers_of(file);
  if (headers.empty() || !object.begin || !object.pe) {
    return false;
  }
  if (!object.pe->headers.empty()) {
    return same_headers(headers, ByteView(object.pe->headers, Endian::little));
  }
  const Address bias = *object.begin - file.load_range().begin;
  return std::ranges::all_of(file.segments(), [&](const ElfSegment& segment) {
    const Address begin = segment.address + bias;
    return (segment.flags & PF_X) == 0 ||
           (object.pe->range.contains(begin) &&
            may_be_code({begin, begin + segment.memory_size}, mappings) &&
            same_code(file, segment, bias, memory));
  });
}

std::shared_ptr<const ElfFile> rebuild_pe(const LoadedObject& object, const Memory& memory,
                                          const std::string& name, Budget& budget) {
  const auto headers =
      object.pe ? read_pe_headers(ByteView(object.pe->headers, Endian::little)) : std::nullopt;
  if (!headers || !object.begin || headers->image_size > kMostImage) {
    return nullptr;
  }
  const bool readable = std::ranges::all_of(headers->sections, [&](const PeSection& section) {
    const bool needed = section.is_code() || section.address == headers->exceptions.address;
    return !needed || !memory.run_at(*object.begin + section.address).empty();
  });
  if (!readable || !budget.draw(Cost::copied, headers->image_size)) {
    return nullptr;
  }
  std::vector<std::byte> image(headers->image_size);
  for (std::uint64_t at = 0; at < image.size(); at += kPageSizes.front()) {
    const auto size = std::min<std::uint64_t>(kPageSizes.front(), image.size() - at);
    memory.read(*object.begin + at, std::span(image).subspan(at, size));
  }
  // The addresses in it are those of its place, which the loader also wrote into the headers.
  try {
    return elf_of_pe(ByteView(image, Endian::little), true, name, &budget);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace whocall
