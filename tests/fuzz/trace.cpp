// Hostile files of call traces: opening one throws Error or gives a trace that can be told to the
// end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "mutators.h"
#include "runtime/trace/layout.h"
#include "tracing/profile.h"
#include "tracing/trace.h"
#include "tracing/trace_json.h"
#include "tracing/trace_source.h"
#include "tracing/trace_text.h"

namespace {

using namespace whocall;

class Input final : public TraceBytes {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(data, data + size) {}
  std::size_t read(std::uint64_t place, std::span<std::byte> out) const override {
    if (place >= bytes_.size()) {
      return 0;
    }
    const std::size_t size = std::min<std::uint64_t>(out.size(), bytes_.size() - place);
    std::memcpy(out.data(), bytes_.data() + place, size);
    return size;
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

template <typename Writer>
void write_all(Writer&& writer) {
  for (std::size_t size = 1; size != 0;) {
    size = writer.next().size();
  }
}

void tell(const Trace& trace, const CallChoice& choice) {
  std::vector<std::size_t> threads(trace.threads().size());
  for (std::size_t at = 0; at < threads.size(); ++at) {
    threads[at] = at;
  }
  const TraceNames names;
  const TracePaint paint;
  write_all(TraceText(trace, threads, choice, names, paint));
  write_all(TraceJson(trace, threads, choice, names));
  const Profile profile(trace, threads, choice);
  write_all(FoldedStacks(profile, names.functions));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Trace trace(read_trace(std::make_shared<Input>(data, size), size, "input"));
    CallChoice choice;
    tell(trace, choice);
    if (!trace.functions().empty()) {
      choice.roots = {trace.functions().front()};
      choice.most_depth = 2;
      choice.shortest = 2;
      tell(trace, choice);
    }
  } catch (const Error&) {
    return 0;
  }
  return 0;
}

namespace {

constexpr std::uint64_t kEntries = 16;  // of the shadow stack, and of the ring

// What a reader looks at before all else: without it a region is none.
void make_right(whocall::fuzz::FieldBytes& bytes, std::size_t region) {
  const std::uint64_t ring = sizeof(wct_region) + kEntries * sizeof(wct_entry);
  bytes.put({region, 8}, WCT_REGION_MAGIC);
  bytes.put({region + offsetof(wct_region, version), 4}, WCT_VERSION);
  bytes.put({region + offsetof(wct_region, header_size), 4}, sizeof(wct_region));
  bytes.put({region + offsetof(wct_region, entry_size), 4}, sizeof(wct_entry));
  bytes.put({region + offsetof(wct_region, event_size), 4}, sizeof(wct_event));
  bytes.put({region + offsetof(wct_region, size), 8}, ring + kEntries * sizeof(wct_event));
  bytes.put({region + offsetof(wct_region, stack_offset), 8}, sizeof(wct_region));
  bytes.put({region + offsetof(wct_region, stack_capacity), 8}, kEntries);
  bytes.put({region + offsetof(wct_region, ring_offset), 8}, ring);
  bytes.put({region + offsetof(wct_region, ring_capacity), 8}, kEntries);
  const whocall::fuzz::Field first{region + offsetof(wct_region, first_event), 8};
  bytes.put(first, bytes.get(first) % 4);
  const whocall::fuzz::Field count{region + offsetof(wct_region, count), 8};
  bytes.put(count, 4 + bytes.get(count) % 64);
  const whocall::fuzz::Field depth{region + offsetof(wct_region, depth), 8};
  bytes.put(depth, 1 + bytes.get(depth) % kEntries);
  // Events whose kinds and laps are possible.
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    const whocall::fuzz::Field time{region + ring + i * sizeof(wct_event), 8};
    const std::uint64_t was = bytes.get(time);
    const std::uint64_t lap = (bytes.get(count) - 1 - i) / kEntries % (1U << WCT_LAP_BITS);
    bytes.put(time, (was & ~std::uint64_t{0xfc}) | lap << WCT_KIND_BITS);
  }
}

}  // namespace

// Half of the regions stay whole; fields of the headers get values on which readers stumble.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  using namespace whocall::fuzz;
  constexpr std::size_t kRegion = 2 * WCT_PAGE;
  std::mt19937 random(seed);
  size = LLVMFuzzerMutate(data, size, most);
  const std::size_t wanted = WCT_PAGE + kRegion * (1 + random() % 2);
  if (size < wanted && wanted <= most) {
    std::memset(data + size, 0, wanted - size);
    size = wanted;
  }
  FieldBytes bytes({data, size}, false);
  std::vector<Field> fields;
  for (std::size_t at = 16; at < sizeof(wct_file); at += 8) {
    fields.push_back({at, 8});
  }
  for (std::size_t page = WCT_PAGE; page + kRegion <= size; page += kRegion) {
    if (random() % 8 != 0) {
      make_right(bytes, page);
    }
    for (std::size_t at = 16; at < offsetof(wct_region, frame_sizes); at += 8) {
      fields.push_back({page + at, 8});
    }
  }
  if (random() % 2 == 0) {
    mutate_field(bytes, fields, random);
  }
  bytes.put({0, 8}, WCT_FILE_MAGIC);
  bytes.put({8, 4}, WCT_VERSION);
  bytes.put({offsetof(wct_file, modules_offset), 8}, sizeof(wct_file));
  bytes.put({offsetof(wct_file, modules_size), 8}, random() % 2 == 0 ? 30 : random());
  bytes.put({offsetof(wct_file, pointer_size), 4}, random() % 2 == 0 ? 8 : 4);
  return size;
}
