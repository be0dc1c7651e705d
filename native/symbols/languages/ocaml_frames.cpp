#include "symbols/languages/ocaml_frames.h"

#include <algorithm>
#include <string_view>

#include "base/interrupt.h"

namespace whocall {
namespace {

// In the low bits of a frame's size.
constexpr unsigned kHasDebugInfo = 1;
constexpr unsigned kHasAllocations = 2;
constexpr unsigned kReturnsToC = 0xffff;  // instead of a size: no frame of OCaml's

// Of a debuginfo's two words.
constexpr std::uint32_t kHasNext = 1;
constexpr std::uint32_t kOffset = 0x3fffffc;       // from the words to the name, in the first
constexpr std::uint32_t kNamesColumns = 1U << 31;  // since 5.2, in the second
constexpr unsigned kLineShift = 12;
constexpr unsigned kPackedLineShift = 19;  // since 5.2, where the columns fit beside the line
constexpr std::uint64_t kColumns = 8;      // bytes of columns between offset and name
constexpr std::size_t kMostInlinedCalls = 256;
constexpr std::size_t kLongestText = 4096;

Address aligned(Address address, std::uint64_t to) { return (address + to - 1) / to * to; }

// Folklore. Situation: one call of the collector makes room for several objects, each with a place
// of its own. Example: a pair of closures in camlinternalFormatBasics.ml, of lines 559 and 561.
// Remedy: nothing tells for which of them the memory ran out, so that no place is told, unless it
// is the same for all.
Address only_info(const ElfFile& file, Address offsets, unsigned count) {
  Address only = 0;
  for (unsigned i = 0; i < count; ++i) {
    const Address where = offsets + std::uint64_t{4} * i;
    const auto offset = file.at(where).read<std::uint32_t>(0).value_or(0);
    const Address info = offset != 0 ? where + offset : only;
    if (only != 0 && info != only) {
      return 0;
    }
    only = info;
  }
  return only;
}

// What a program may have as a name or a file; empty otherwise.
std::string_view text_at(const ElfFile& file, Address address) {
  const ByteView rest = file.at(address);
  const auto near = rest.slice(0, std::min(rest.size(), kLongestText + 1));
  const auto text = near.value_or(ByteView()).c_string(0).value_or(std::string_view());
  const bool is_text = std::ranges::none_of(
      text, [](char each) { return static_cast<unsigned char>(each) < ' ' || each == '\x7f'; });
  return is_text ? text : std::string_view();
}

struct InfoWords {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

std::optional<InfoWords> info_at(const ElfFile& file, Address where) {
  const ByteView bytes = file.at(where);
  const auto first = bytes.read<std::uint32_t>(0);
  const auto second = bytes.read<std::uint32_t>(4);
  return first && second ? std::optional(InfoWords{*first, *second}) : std::nullopt;
}

// One inlined call; a miss where it is none.
std::optional<SourceLine> place_of(const ElfFile& file, Address where, const InfoWords& info,
                                   OcamlFormat format) {
  const Address record = where + (info.first & kOffset);
  const auto offset = file.at(record).read<std::uint32_t>(0);
  const bool is_long = format == OcamlFormat::ocaml502 && (info.second & kNamesColumns) != 0;
  const auto distance = static_cast<std::int32_t>(offset.value_or(0));
  SourceLine place;
  place.function = text_at(file, record + 4 + (is_long ? kColumns : 0));
  place.file = text_at(file, record + static_cast<Address>(std::int64_t{distance}));
  const bool is_packed = format == OcamlFormat::ocaml502 && !is_long;
  place.line = (info.second & ~kNamesColumns) >> (is_packed ? kPackedLineShift : kLineShift);
  if (!offset || place.function.empty() || place.file.empty() || place.line == 0) {
    return std::nullopt;
  }
  return place;
}

}  // namespace

std::optional<OcamlFrame> read_ocaml_frame(const ElfFile& file, Address where, Address& next) {
  const unsigned word = file.pointer_size();
  const ByteView bytes = file.at(where);
  const auto size = bytes.read<std::uint16_t>(word);
  const auto live = bytes.read<std::uint16_t>(word + 2);
  if (!size || !live) {
    return std::nullopt;
  }
  OcamlFrame frame{where};
  Address at = where + word + 4 + std::uint64_t{2} * *live;
  if (*size != kReturnsToC) {
    unsigned infos = *size & kHasDebugInfo;
    if ((*size & kHasAllocations) != 0) {
      const unsigned count = file.at(at).read<std::uint8_t>(0).value_or(0);
      at += 1 + count;
      infos *= count;
    }
    if (infos != 0) {
      at = aligned(at, 4);
      frame.debug_info = only_info(file, at, infos);
      at += std::uint64_t{4} * infos;
    }
  }
  next = aligned(at, word);
  return frame;
}

Address append_ocaml_frames(const ElfFile& file, Address table, std::vector<OcamlFrame>& frames) {
  const std::uint64_t count = file.at(table).read_unsigned(0, file.pointer_size()).value_or(0);
  Address at = table + file.pointer_size();
  for (std::uint64_t i = 0; i < count; ++i) {
    check_interrupt_at(i, kManyEntries);
    const auto frame = read_ocaml_frame(file, at, at);
    if (!frame) {
      break;
    }
    if (frame->debug_info != 0) {
      frames.push_back(*frame);
    }
  }
  return at;
}

// Folklore. Situation: OCaml 5.2 packs lines in another way, and no version is told. Example: the
// words of line 40 by 5.1 are line 0 by 5.2's rules. Remedy: until 5.1 no program has a line of
// 524,288 and more, which sets the highest bit; since 5.2 that bit says that columns are long, as
// in every program of some size, and no line is 0.
std::optional<OcamlFormat> ocaml_format(const ElfFile& file, std::span<const OcamlFrame> frames) {
  bool old = false;
  for (const OcamlFrame& frame : frames) {
    const auto info = info_at(file, frame.debug_info);
    if (info && (info->second & kNamesColumns) != 0) {
      return OcamlFormat::ocaml502;
    }
    old = old || (info && info->second >> kPackedLineShift == 0 && info->second >> kLineShift != 0);
  }
  return old ? std::optional(OcamlFormat::ocaml411) : std::nullopt;
}

std::vector<SourceLine> ocaml_places(const ElfFile& file, Address debug_info, OcamlFormat format) {
  std::vector<SourceLine> places;
  for (Address at = debug_info; places.size() < kMostInlinedCalls; at += sizeof(InfoWords)) {
    const auto info = info_at(file, at);
    auto place = info ? place_of(file, at, *info, format) : std::nullopt;
    if (!place) {
      return {};
    }
    places.push_back(std::move(*place));
    if ((info->first & kHasNext) == 0) {
      return places;
    }
  }
  return {};
}

}  // namespace whocall
