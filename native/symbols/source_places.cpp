#include "symbols/source_places.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "base/long_work.h"
#include "object/open_files.h"
#include "symbols/fact_cache.h"
#include "symbols/inferred/near_place.h"
#include "symbols/inferred/rust_paths.h"
#include "symbols/symbol_facts.h"

namespace whocall {
namespace {

constexpr const char* kKindOfPanics = "panic-places";

// Only of large files: others are looked through sooner than a file is found.
std::optional<std::string> key_of_places(const ElfFile& file) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 20U;  // bytes
  return file.bytes().size() < kLarge ? std::nullopt : facts_key(file, nullptr);
}

std::optional<PanicPlaces> kept_panics(const std::optional<std::string>& key) {
  const auto known = key ? find_facts(*key, kKindOfPanics) : std::nullopt;
  return known ? decode_panic_places(*known) : std::nullopt;
}

// Whether the place that `each` is, or another one in the same function, is in `file`, of those
// that are not the standard library's and that no other function names; a miss where there is none.
std::optional<bool> names_own(const ElfFile& elf, const PanicPlaces& panics, const PanicPlace& each,
                              std::string_view file) {
  const std::vector<AddressRange> range = {delimited_at(elf, each.at)};
  std::optional<bool> found;
  for (const PanicPlace& place : panics.in(range.front())) {
    const std::string& name = panics.files[place.file];
    if (!is_standard_rust(name) && !panics.is_shared(place, range)) {
      found = found.value_or(false) || name == file;
    }
  }
  return found;
}

// The same of the nearest function before or behind that has any.
bool names_nearest(const ElfFile& elf, const PanicPlaces& panics, AddressRange function,
                   std::string_view file, bool before) {
  constexpr unsigned kFarthest = 64;  // places that are looked at
  const auto& all = panics.places;
  const Address edge = before ? function.begin : function.end;
  auto at = static_cast<std::size_t>(std::ranges::lower_bound(all, edge, {}, &PanicPlace::at) -
                                     all.begin());
  for (unsigned i = 0; i < kFarthest && (before ? at != 0 : at < all.size()); ++i) {
    if (const auto found = names_own(elf, panics, all[before ? at - 1 : at], file)) {
      return *found;
    }
    at = before ? at - 1 : at + 1;
  }
  return false;
}

}  // namespace

SourcePlaces::SourcePlaces(std::shared_ptr<const ElfFile> file)
    : file_(std::move(file)),
      arch_(file_->type() == ET_REL ? nullptr : find_architecture(file_->identity())) {}

std::vector<SourceHint> SourcePlaces::of(AddressRange function, Address link) {
  constexpr std::size_t kMost = 256;  // of one function
  std::vector<SourceHint> hints;
  if (arch_ == nullptr) {
    return hints;
  }
  const std::scoped_lock lock(mutex_);
  const std::vector<CodePlace>& places = places_of(function);
  const auto neighbours = [&](std::string_view file) {
    return (names_nearest(*file_, panics(), function, file, true) ? 1U : 0U) +
           (names_nearest(*file_, panics(), function, file, false) ? 1U : 0U);
  };
  const CodePlace* const near = near_place(places, function, link, neighbours);
  for (const CodePlace& each : places) {
    if (hints.size() < kMost || &each == near) {
      hints.push_back({each.file, each.line, each.column, each.at, &each == near});
    }
  }
  return hints;
}

FunctionTraits SourcePlaces::traits_of(AddressRange function) {
  if (arch_ == nullptr) {
    return {};
  }
  const std::scoped_lock lock(mutex_);
  const auto known = traits_.find(function.begin);
  if (known != traits_.end()) {
    return known->second;
  }
  const LongWork work("Looking for callers in", file_->path());
  const auto ranges = ranges_of_function(*file_, *arch_, function);
  return traits_.emplace(function.begin, function_traits(*file_, *arch_, ranges)).first->second;
}

const std::vector<CodePlace>& SourcePlaces::places_of(AddressRange function) {
  const auto known = known_.find(function.begin);
  if (known != known_.end()) {
    return known->second;
  }
  const auto ranges = ranges_of_function(*file_, *arch_, function);
  return known_.emplace(function.begin, code_places(*file_, *arch_, ranges, panics()))
      .first->second;
}

const PanicPlaces& SourcePlaces::panics() {
  if (!panics_) {
    const std::optional<std::string> key = key_of_places(*file_);
    panics_ = kept_panics(key);
    if (!panics_) {
      const LongWork work("Looking for places in the source in", file_->path());
      panics_ = find_panic_places(*file_, *arch_);
      if (key) {
        keep_facts(*key, kKindOfPanics, encode(*panics_));
      }
    }
  }
  return *panics_;
}

std::shared_ptr<SourcePlaces> source_places_of(const std::shared_ptr<const ElfFile>& file) {
  const auto knowledge = knowledge_of(*file);
  if (knowledge == nullptr) {
    return std::make_shared<SourcePlaces>(file);
  }
  return knowledge->get<std::shared_ptr<SourcePlaces>>(
      [&] { return std::make_shared<SourcePlaces>(file); });
}

}  // namespace whocall
