#include "symbols/inferred/near_place.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "symbols/inferred/message_text.h"
#include "symbols/inferred/rust_paths.h"

namespace whocall {
namespace {

// How far from the checks a place still holds, of which nothing else is known.
constexpr Address kBeside = 32;            // bytes of code
constexpr std::uint64_t kPartBeside = 10;  // or so small a part of the function

bool is_same(const CodePlace& left, const CodePlace& right) {
  return left.file == right.file && left.line == right.line && left.column == right.column;
}

// Null where the call gets none, or, jumped to from several places, one of several.
const CodePlace* place_of_call(std::span<const CodePlace> places, Address link) {
  const CodePlace* found = nullptr;
  for (const CodePlace& each : places) {
    if (!each.call.contains(link)) {
      continue;
    }
    if (found != nullptr && !is_same(*found, each)) {
      return nullptr;
    }
    found = &each;
  }
  return found;
}

Address distance(Address left, Address right) { return left < right ? right - left : left - right; }

Address distance_to(const CodePlace& place, Address link) {
  Address nearest = ~Address{0};
  for (const Address each : place.reached_from) {
    nearest = std::min(nearest, distance(each, link));
  }
  return nearest;
}

const CodePlace* nearest_of(const std::vector<const CodePlace*>& places, Address link) {
  const auto nearest = std::ranges::min_element(
      places, {}, [&](const CodePlace* each) { return distance_to(*each, link); });
  return nearest == places.end() ? nullptr : *nearest;
}

using Places = std::vector<const CodePlace*>;
using ByFile = std::map<std::string_view, Places>;

bool has_two_lines(const Places& places) {
  return std::ranges::any_of(
      places, [&](const CodePlace* each) { return each->line != places.front()->line; });
}

// How far `link` lies outside the checks that lead to the places.
Address distance_to_checks(const Places& places, Address link) {
  AddressRange hull{~Address{0}, 0};
  for (const CodePlace* each : places) {
    hull = {std::min(hull.begin, each->reached_from.front()),
            std::max(hull.end, each->reached_from.back())};
  }
  return link < hull.begin ? hull.begin - link : link > hull.end ? link - hull.end : 0;
}

// The program's own files are told by paths without a root, those of crates by whole ones.
bool is_of_crate(std::string_view file) { return file.starts_with('/'); }

const Places* own_among(const ByFile& by_file) {
  const Places* own = nullptr;
  for (const auto& [file, places] : by_file) {
    if (!is_of_crate(file)) {
      if (own != nullptr) {
        return nullptr;
      }
      own = &places;
    }
  }
  return own != nullptr && has_two_lines(*own) ? own : nullptr;
}

const CodePlace* near_rust_place(std::span<const CodePlace> places, AddressRange function,
                                 Address link,
                                 const std::function<unsigned(std::string_view)>& neighbours) {
  std::set<std::string_view> files;
  ByFile own;  // those that nobody else names
  for (const CodePlace& each : places) {
    if (!is_standard_rust(each.file)) {
      files.insert(each.file);
      if (!each.is_shared) {
        own[each.file].push_back(&each);
      }
    }
  }
  if (own.empty()) {
    return nullptr;
  }
  const Places& first = own.begin()->second;
  if (own.size() == 1) {
    const bool alone = files.size() == 1;
    const Address reach = alone ? std::max(kBeside, function.size() / kPartBeside) : kBeside;
    const bool holds = (alone || has_two_lines(first)) && distance_to_checks(first, link) <= reach;
    const std::string& file = first.front()->file;
    const unsigned beside = neighbours(file);
    if ((holds && (beside != 0 || !is_of_crate(file))) || (alone && beside == 2)) {
      return nearest_of(first, link);
    }
  }
  const Places* const program = files.size() > 1 ? own_among(own) : nullptr;
  return program != nullptr ? nearest_of(*program, link) : nullptr;
}

const CodePlace* near_other_place(std::span<const CodePlace> places, Address link) {
  ByFile by_file;
  std::size_t all = 0;
  for (const CodePlace& each : places) {
    if (!is_header_path(each.file)) {
      by_file[each.file].push_back(&each);
      ++all;
    }
  }
  for (const auto& [file, of_file] : by_file) {
    if (2 * of_file.size() > all) {
      return nearest_of(of_file, link);
    }
  }
  return nullptr;
}

}  // namespace

const CodePlace* near_place(std::span<const CodePlace> places, AddressRange function, Address link,
                            const std::function<unsigned(std::string_view file)>& neighbours) {
  const CodePlace* const exact = place_of_call(places, link);
  if (exact != nullptr && !(exact->is_rust && is_standard_rust(exact->file))) {
    return exact;
  }
  const bool is_rust = std::ranges::any_of(places, &CodePlace::is_rust);
  return is_rust ? near_rust_place(places, function, link, neighbours)
                 : near_other_place(places, link);
}

}  // namespace whocall
