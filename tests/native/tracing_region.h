// Writes the region of a thread, event by event, as the hooks leave it in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/trace/layout.h"
#include "tracing/trace_thread.h"

namespace whocall::test {

class RegionBytes final : public TraceBytes {
 public:
  explicit RegionBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(std::uint64_t place, std::span<std::byte> out) const override {
    if (place >= bytes_.size()) {
      return 0;
    }
    const std::size_t size = std::min<std::uint64_t>(out.size(), bytes_.size() - place);
    std::memcpy(out.data(), bytes_.data() + place, size);
    return size;
  }

 private:
  std::vector<std::byte> bytes_;
};

// A region whose ring and stack hold 16 each; times are nanoseconds.
class Region {
 public:
  static constexpr std::size_t kCapacity = 16;

  explicit Region(std::uint32_t tid, std::string_view name = "test") {
    head.magic = WCT_REGION_MAGIC;
    head.version = WCT_VERSION;
    head.header_size = sizeof(wct_region);
    head.tid = tid;
    head.pid = 1000;
    head.serial = tid;
    name.copy(head.name, sizeof head.name);
    head.entry_size = sizeof(wct_entry);
    head.event_size = sizeof(wct_event);
    head.stack_offset = sizeof(wct_region);
    head.stack_capacity = kCapacity;
    head.ring_offset = head.stack_offset + kCapacity * sizeof(wct_entry);
    head.ring_capacity = kCapacity;
    head.size = head.ring_offset + kCapacity * sizeof(wct_event);
    head.began.nanoseconds = 1;
    head.depth = 1;
  }

  Region& event(unsigned kind, std::uint64_t time, std::uint64_t function, std::uint64_t site,
                std::uint64_t depth) {
    const std::uint64_t number = head.count++;
    const std::uint64_t lap = number / kCapacity % (1U << WCT_LAP_BITS);
    ring[number % kCapacity] = {time << WCT_TIME_SHIFT | lap << WCT_KIND_BITS | kind,
                                function | depth << WCT_ADDRESS_BITS,
                                site | depth >> 16U << WCT_ADDRESS_BITS};
    return *this;
  }
  Region& enter(std::uint64_t time, std::uint64_t function, std::uint64_t site,
                std::uint64_t depth) {
    return event(WCT_ENTER, time, function, site, depth);
  }
  Region& exit(std::uint64_t time, std::uint64_t function, std::uint64_t site,
               std::uint64_t depth) {
    return event(WCT_EXIT, time, function, site, depth);
  }
  Region& live(std::uint64_t function, std::uint64_t site) {
    stack[head.depth++] = {function, site, 0, 0, 0};
    return *this;
  }

  // Where parts lie hangs on nothing that the header says.
  [[nodiscard]] std::vector<std::byte> bytes() const {
    constexpr std::size_t kRing = sizeof(wct_region) + kCapacity * sizeof(wct_entry);
    std::vector<std::byte> made(kRing + sizeof ring);
    std::memcpy(made.data(), &head, sizeof head);
    std::memcpy(made.data() + sizeof head, stack, sizeof stack);
    std::memcpy(made.data() + kRing, ring, sizeof ring);
    return made;
  }

  wct_region head = {};
  wct_entry stack[kCapacity] = {};
  wct_event ring[kCapacity] = {};
};

// A trace's file: its head, then regions, each on a page.
inline std::vector<std::byte> file_of(const std::vector<Region>& regions,
                                      std::string_view maps = {}) {
  std::vector<std::byte> made(WCT_PAGE);
  wct_file head = {};
  head.magic = WCT_FILE_MAGIC;
  head.version = WCT_VERSION;
  head.pointer_size = 8;
  head.modules_offset = sizeof head;
  head.modules_size = maps.size();
  std::string_view("x86_64").copy(head.machine, sizeof head.machine);
  std::memcpy(made.data(), &head, sizeof head);
  std::ranges::copy(std::as_bytes(std::span(maps)), made.begin() + sizeof head);
  for (const Region& region : regions) {
    const auto bytes = region.bytes();
    made.insert(made.end(), bytes.begin(), bytes.end());
    made.resize((made.size() + WCT_PAGE - 1) / WCT_PAGE * WCT_PAGE);
  }
  return made;
}

}  // namespace whocall::test
