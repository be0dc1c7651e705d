#include "process/minidump/core_segments.h"

#include <elf.h>

#include <algorithm>

#include "base/interrupt.h"

namespace whocall {
namespace {

constexpr std::uint32_t kDataFlags = PF_R | PF_W;

// By address; of pieces that overlap the one that begins first wins, of two that begin together the
// longer.
std::vector<DumpedMemory> without_overlaps(std::vector<DumpedMemory> memory) {
  std::ranges::stable_sort(memory, [](const DumpedMemory& left, const DumpedMemory& right) {
    return left.address != right.address ? left.address < right.address : left.size > right.size;
  });
  std::vector<DumpedMemory> pieces;
  Address end = 0;
  for (const DumpedMemory& piece : memory) {
    const std::uint64_t known = end > piece.address ? end - piece.address : 0;
    if (known < piece.size) {
      pieces.push_back({piece.address + known, piece.size - known, piece.place + known});
      end = piece.address + piece.size;
    }
  }
  return pieces;
}

// The same, none across the edge of a mapping: bytes around a program counter may be of two.
std::vector<DumpedMemory> cut_at_edges(const std::vector<DumpedMemory>& pieces,
                                       const std::vector<Mapping>& mappings) {
  std::vector<Address> edges;
  edges.reserve(2 * mappings.size());
  for (const Mapping& each : mappings) {
    edges.push_back(each.range.begin);
    edges.push_back(each.range.end);
  }
  std::ranges::sort(edges);
  std::vector<DumpedMemory> parts;
  for (const DumpedMemory& piece : pieces) {
    const Address end = piece.address + piece.size;
    Address begin = piece.address;
    for (auto edge = std::ranges::upper_bound(edges, begin); edge != edges.end() && *edge < end;
         ++edge) {
      if (*edge > begin) {
        parts.push_back({begin, *edge - begin, piece.place + (begin - piece.address)});
        begin = *edge;
      }
    }
    parts.push_back({begin, end - begin, piece.place + (begin - piece.address)});
  }
  return parts;
}

std::uint32_t flags_of(const Mapping& mapping) {
  return (mapping.readable ? PF_R : 0U) | (mapping.writable ? PF_W : 0U) |
         (mapping.executable ? PF_X : 0U);
}

// Goes through the mappings by address, and through the pieces that lie in them.
class SegmentsByAddress {
 public:
  explicit SegmentsByAddress(const std::vector<DumpedMemory>& pieces) {
    for (const DumpedMemory& piece : pieces) {
      held_.push_back({piece.address, piece.size, piece.size, piece.place, kDataFlags});
    }
  }

  // What of the mapping the dump does not hold, and what the pieces in it may do.
  void add(const Mapping& mapping) {
    if (mapping.range.end <= done_) {
      return;
    }
    done_ = std::max(done_, mapping.range.begin);
    const std::uint32_t flags = flags_of(mapping);
    while (next_ < held_.size() && end_of(held_[next_]) <= done_) {
      ++next_;
    }
    for (std::size_t at = next_; at < held_.size() && held_[at].address < mapping.range.end; ++at) {
      CoreSegment& piece = held_[at];
      piece.flags = piece.address >= mapping.range.begin ? flags : piece.flags;
      fill_to(piece.address, flags);
      done_ = std::max(done_, end_of(piece));
    }
    fill_to(mapping.range.end, flags);
  }

  std::vector<CoreSegment> finish() && {
    empty_.insert(empty_.end(), held_.begin(), held_.end());
    std::ranges::stable_sort(empty_, {}, &CoreSegment::address);
    return std::move(empty_);
  }

 private:
  static Address end_of(const CoreSegment& segment) { return segment.address + segment.size; }

  void fill_to(Address end, std::uint32_t flags) {
    if (end > done_) {
      empty_.push_back({done_, end - done_, 0, 0, flags});
      done_ = end;
    }
  }

  std::vector<CoreSegment> held_;
  std::vector<CoreSegment> empty_;
  std::size_t next_ = 0;  // of what is held: what is before it lies below
  Address done_ = 0;
};

}  // namespace

std::vector<CoreSegment> core_segments_of(const Minidump& dump) {
  std::vector<const Mapping*> mappings;
  for (const Mapping& each : dump.mappings) {
    mappings.push_back(&each);
  }
  std::ranges::stable_sort(mappings, {}, [](const Mapping* each) { return each->range.begin; });
  SegmentsByAddress segments(cut_at_edges(without_overlaps(dump.memory), dump.mappings));
  for (std::size_t at = 0; at < mappings.size(); ++at) {
    check_interrupt_at(at, kManyEntries);
    segments.add(*mappings[at]);
  }
  return std::move(segments).finish();
}

}  // namespace whocall
