#include "memory/segment_memory.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace whocall {
namespace {

using Segment = SegmentMemory::Segment;

bool holds(const Segment& segment, Address address) {
  return address >= segment.begin && address - segment.begin < segment.bytes.size();
}

// Ends are exclusive, so the last byte of the address space cannot be part of a segment.
Segment inside_address_space(Segment segment) {
  const Address room = std::numeric_limits<Address>::max() - segment.begin;
  if (segment.bytes.size() > room) {
    segment.bytes = segment.bytes.first(room);
  }
  return segment;
}

std::vector<Segment> sorted_and_disjoint(std::vector<Segment> segments) {
  std::ranges::stable_sort(segments, {}, &Segment::begin);
  std::vector<Segment> result;
  result.reserve(segments.size());
  Address end = 0;
  for (const Segment& given : segments) {
    Segment segment = inside_address_space(given);
    if (segment.begin < end) {
      const std::uint64_t taken =
          std::min<std::uint64_t>(end - segment.begin, segment.bytes.size());
      segment.begin += taken;
      segment.bytes = segment.bytes.subspan(taken);
    }
    if (!segment.bytes.empty()) {
      end = segment.begin + segment.bytes.size();
      result.push_back(segment);
    }
  }
  return result;
}

}  // namespace

SegmentMemory::SegmentMemory(std::vector<Segment> segments,
                             std::vector<std::shared_ptr<const void>> owners)
    : segments_(sorted_and_disjoint(std::move(segments))), owners_(std::move(owners)) {}

std::span<const std::byte> SegmentMemory::run_at(Address address) const {
  std::size_t index = last_hit_.load(std::memory_order_relaxed);
  if (index >= segments_.size() || !holds(segments_[index], address)) {
    const auto after = std::ranges::upper_bound(segments_, address, {}, &Segment::begin);
    if (after == segments_.begin() || !holds(*(after - 1), address)) {
      return {};
    }
    index = static_cast<std::size_t>(after - 1 - segments_.begin());
    last_hit_.store(index, std::memory_order_relaxed);
  }
  return segments_[index].bytes.subspan(address - segments_[index].begin);
}

}  // namespace whocall
