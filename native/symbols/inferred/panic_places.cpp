#include "symbols/inferred/panic_places.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/interrupt.h"
#include "object/global_offset_table.h"
#include "symbols/discovery/data_words.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

constexpr std::string_view kEnding = ".rs";
constexpr std::uint64_t kLongestPath = 1024;                // bytes
constexpr std::uint64_t kMostLines = 10000000;              // of a source file
constexpr std::uint64_t kMostPanicColumns = 100000;         // of a line
constexpr std::size_t kMostPlaces = std::size_t{1} << 22U;  // of a file

struct Location {
  std::string_view file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// Most files are no Rust programs, and then their data need not be looked at word by word.
bool names_rust_sources(const ElfFile& file) {
  return std::ranges::any_of(file.segments(), [&](const ElfSegment& segment) {
    if (segment.type != PT_LOAD || segment.file_size == 0) {
      return false;
    }
    const ByteView bytes = file.at(segment.address);
    const std::size_t size = std::min<std::uint64_t>(bytes.size(), segment.file_size);
    const std::string_view text(reinterpret_cast<const char*>(bytes.bytes().data()), size);
    return text.find(kEnding) != std::string_view::npos;
  });
}

bool is_path(std::string_view text) {
  return text.size() > kEnding.size() && text.ends_with(kEnding) &&
         std::ranges::all_of(text, [](char each) { return each >= ' ' && each <= '~'; });
}

// The record at `where`, whose first word points to `target`.
std::optional<Location> location_at(const ElfFile& file, const DataPointer& pointer) {
  const unsigned word = file.pointer_size();
  const ByteView record = file.at(pointer.where);
  const auto size = record.read_unsigned(word, word);
  const auto line = record.read_unsigned(std::uint64_t{2} * word, 4);
  const auto column = record.read_unsigned(std::uint64_t{2} * word + 4, 4);
  if (!size || !line || !column || *size > kLongestPath || *line == 0 || *line > kMostLines ||
      *column == 0 || *column > kMostPanicColumns) {
    return std::nullopt;
  }
  const auto bytes = file.at(pointer.target).slice(0, *size);
  if (!bytes) {
    return std::nullopt;
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes->bytes().data()), *size);
  return is_path(text) ? std::optional(Location{text, static_cast<std::uint32_t>(*line),
                                                static_cast<std::uint32_t>(*column)})
                       : std::nullopt;
}

std::unordered_map<Address, Location> find_locations(const ElfFile& file) {
  constexpr std::array kEverything = {AddressRange{0, ~Address{0}}};
  std::unordered_map<Address, Location> found;
  for (const DataPointer& pointer : data_pointers(file, kEverything)) {
    if (const auto location = location_at(file, pointer)) {
      found.emplace(pointer.where, *location);
    }
  }
  return found;
}

AddressRange hull_of(const std::unordered_map<Address, Location>& locations) {
  AddressRange hull{~Address{0}, 0};
  for (const auto& [where, location] : locations) {
    hull = {std::min(hull.begin, where), std::max(hull.end, where + 1)};
  }
  return hull;
}

auto source_of(const PanicPlace& place) { return std::tuple(place.file, place.line, place.column); }

}  // namespace

std::span<const PanicPlace> PanicPlaces::in(AddressRange range) const {
  const auto first = std::ranges::lower_bound(places, range.begin, {}, &PanicPlace::at);
  const auto last = std::ranges::lower_bound(places, range.end, {}, &PanicPlace::at);
  return first < last ? std::span(first, last) : std::span<const PanicPlace>();
}

bool PanicPlaces::is_shared(const PanicPlace& place, std::span<const AddressRange> ranges) const {
  const auto is_before = [&](std::uint32_t index, const auto& source) {
    return source_of(places[index]) < source;
  };
  auto next = std::lower_bound(same.begin(), same.end(), source_of(place), is_before);
  for (; next != same.end() && source_of(places[*next]) == source_of(place); ++next) {
    const Address at = places[*next].at;
    if (std::ranges::none_of(ranges, [&](const AddressRange& each) { return each.contains(at); })) {
      return true;
    }
  }
  return false;
}

void PanicPlaces::sort() {
  std::ranges::stable_sort(places, {}, &PanicPlace::at);
  same.resize(places.size());
  for (std::uint32_t i = 0; i < same.size(); ++i) {
    same[i] = i;
  }
  std::ranges::stable_sort(same, [&](std::uint32_t left, std::uint32_t right) {
    return source_of(places[left]) < source_of(places[right]);
  });
}

PanicPlaces find_panic_places(const ElfFile& file, const Architecture& arch) {
  PanicPlaces found;
  if (arch.code.append_constant_addresses == nullptr || !names_rust_sources(file)) {
    return found;
  }
  const auto locations = find_locations(file);
  const AddressRange hull = hull_of(locations);
  if (hull.empty()) {
    return found;
  }
  const GlobalTable got = global_table(file);
  std::unordered_map<std::string_view, std::uint32_t> known;
  std::vector<ConstantAddress> taken;
  for (const AddressRange& area : code_areas(file)) {
    check_interrupt();
    const ByteView code = file.at(area.begin);
    if (const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()))) {
      arch.code.append_constant_addresses(*inside, area.begin, got, file.type() == ET_EXEC, hull,
                                          taken);
    }
  }
  for (const ConstantAddress& each : taken) {
    const auto location = locations.find(each.value);
    if (location == locations.end() || found.places.size() == kMostPlaces) {
      continue;
    }
    const Location& source = location->second;
    const auto [name, is_new] =
        known.try_emplace(source.file, static_cast<std::uint32_t>(found.files.size()));
    if (is_new) {
      found.files.emplace_back(source.file);
    }
    found.places.push_back({each.at, name->second, source.line, source.column});
  }
  found.sort();
  return found;
}

}  // namespace whocall
