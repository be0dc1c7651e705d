#include "tracing/region_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "base/byte_reader.h"
#include "base/hex.h"
#include "base/interrupt.h"
#include "runtime/trace/layout.h"

namespace whocall {
namespace {

constexpr std::uint64_t kMostDepth = std::uint64_t{1} << 24U;  // entries of a shadow stack to read

ByteView view(std::span<const std::byte> bytes, Endian endian) { return {bytes, endian}; }

std::uint64_t field(const ByteView& header, std::size_t offset) {
  return header.read<std::uint64_t>(offset).value_or(0);
}

std::uint32_t short_field(const ByteView& header, std::size_t offset) {
  return header.read<std::uint32_t>(offset).value_or(0);
}

ClockMoment moment(const ByteView& header, std::size_t offset) {
  return {field(header, offset), field(header, offset + offsetof(wct_moment, nanoseconds))};
}

std::string text_field(const ByteView& header, std::size_t offset, std::size_t size) {
  const auto bytes = header.slice(offset, size).value_or(ByteView()).bytes();
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  return {begin, std::find(begin, begin + bytes.size(), '\0')};
}

// A sentence on a header that contradicts itself; empty when it does not.
std::string contradiction(const ByteView& header, std::uint64_t limit) {
  if (short_field(header, offsetof(wct_region, version)) != WCT_VERSION) {
    return "is of version " + std::to_string(short_field(header, offsetof(wct_region, version))) +
           " of the format; this whocall reads version " + std::to_string(WCT_VERSION);
  }
  if (short_field(header, offsetof(wct_region, entry_size)) != sizeof(wct_entry) ||
      short_field(header, offsetof(wct_region, event_size)) != sizeof(wct_event) ||
      short_field(header, offsetof(wct_region, header_size)) != sizeof(wct_region)) {
    return "tells other sizes of its records than its version has";
  }
  const std::uint64_t size = field(header, offsetof(wct_region, size));
  const std::uint64_t stack = field(header, offsetof(wct_region, stack_offset));
  const std::uint64_t entries = field(header, offsetof(wct_region, stack_capacity));
  const std::uint64_t ring = field(header, offsetof(wct_region, ring_offset));
  const std::uint64_t events = field(header, offsetof(wct_region, ring_capacity));
  if (size > limit || stack != sizeof(wct_region) || entries > size / sizeof(wct_entry) ||
      ring != stack + entries * sizeof(wct_entry) || !std::has_single_bit(events) || ring > size ||
      events > (size - ring) / sizeof(wct_event)) {
    return "tells sizes that do not fit together";
  }
  if (field(header, offsetof(wct_region, first_event)) >
      field(header, offsetof(wct_region, count))) {
    return "begins behind its last event";
  }
  return {};
}

TraceThread thread_of(const ByteView& header, std::uint64_t place) {
  TraceThread thread;
  thread.pid = short_field(header, offsetof(wct_region, pid));
  thread.tid = short_field(header, offsetof(wct_region, tid));
  thread.serial = field(header, offsetof(wct_region, serial));
  thread.name = text_field(header, offsetof(wct_region, name), sizeof(wct_region::name));
  thread.sees_no_returns =
      (short_field(header, offsetof(wct_region, flags)) & WCT_RETURNS_UNSEEN) != 0;
  thread.counts_ticks = short_field(header, offsetof(wct_region, clock)) == WCT_CLOCK_TICKS;
  thread.began = moment(header, offsetof(wct_region, began));
  thread.latest = moment(header, offsetof(wct_region, latest));
  thread.began_realtime = field(header, offsetof(wct_region, began_realtime));
  thread.place = place;
  thread.ring_place = place + field(header, offsetof(wct_region, ring_offset));
  thread.ring_capacity = field(header, offsetof(wct_region, ring_capacity));
  thread.first_event = field(header, offsetof(wct_region, first_event));
  thread.events = field(header, offsetof(wct_region, count));
  thread.overflow = field(header, offsetof(wct_region, overflow));
  thread.endian = header.endian();
  return thread;
}

// The entry that a hook had put aside when a signal came stands in the header.
std::uint64_t entry_place(const ByteView& header, std::uint64_t place, std::uint64_t number) {
  return place + field(header, offsetof(wct_region, stack_offset)) + number * sizeof(wct_entry);
}

std::string read_stack(const TraceBytes& bytes, const ByteView& header, TraceThread& thread) {
  const std::uint64_t told = field(header, offsetof(wct_region, depth));
  const std::uint64_t capacity = field(header, offsetof(wct_region, stack_capacity));
  const std::uint64_t depth = std::min({told, capacity, kMostDepth});
  for (std::uint64_t number = 1; number < depth; ++number) {
    check_interrupt_at(number, kManyEntries);
    std::array<std::byte, sizeof(wct_entry)> record{};
    if (bytes.read(entry_place(header, thread.place, number), record) < record.size()) {
      return "the shadow stack cannot be read to its end";
    }
    const ByteView entry = view(record, header.endian());
    const ShadowEntry read{.function = field(entry, offsetof(wct_entry, function)),
                           .call_site = field(entry, offsetof(wct_entry, call_site)),
                           .sp = field(entry, offsetof(wct_entry, sp)),
                           .cfa = field(entry, offsetof(wct_entry, cfa)),
                           .depth = number - 1};
    if (read.function != 0) {  // that of a gap is 0
      thread.stack.push_back(read);
    }
  }
  return told > capacity || told == 0 ? "the shadow stack's depth cannot be true" : "";
}

}  // namespace

std::optional<std::uint64_t> number_at(const TraceBytes& bytes, std::uint64_t place, unsigned size,
                                       Endian endian) {
  std::array<std::byte, 8> word{};
  const std::span<std::byte> wanted = std::span(word).first(std::min<std::size_t>(size, 8));
  if (bytes.read(place, wanted) < wanted.size()) {
    return std::nullopt;
  }
  return view(wanted, endian).read_unsigned(0, size);
}

std::optional<Endian> order_of_magic(const TraceBytes& bytes, std::uint64_t place,
                                     std::uint64_t magic) {
  const auto word = number_at(bytes, place, 8, Endian::little);
  if (word == magic) {
    return Endian::little;
  }
  return word == swap_bytes(magic) ? std::optional(Endian::big) : std::nullopt;
}

RegionReading read_region(const TraceBytes& bytes, std::uint64_t place, Endian endian,
                          std::uint64_t limit) {
  RegionReading found;
  const std::string which = "The record of a thread at " + hex(place);
  std::array<std::byte, sizeof(wct_region)> raw{};
  if (bytes.read(place, raw) < raw.size()) {
    found.damage = which + " is cut off, and left out.";
    return found;
  }
  const ByteView header = view(raw, endian);
  found.next = field(header, offsetof(wct_region, next));
  if (const std::string wrong = contradiction(header, limit); !wrong.empty()) {
    found.damage = which + " " + wrong + ", and is left out.";
    return found;
  }
  TraceThread thread = thread_of(header, place);
  if (const std::string wrong = read_stack(bytes, header, thread); !wrong.empty()) {
    found.damage = "Of thread " + std::to_string(thread.tid) + " " + wrong + ".";
  }
  found.thread = std::move(thread);
  return found;
}

}  // namespace whocall
