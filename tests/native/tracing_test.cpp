// Call traces out of literal regions: events, what they tell of calls, the forms, what is damaged.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "arch/x86/x86_64_facts.h"
#include "base/error.h"
#include "memory/segment_memory.h"
#include "tracing/process_trace.h"
#include "tracing/profile.h"
#include "tracing/trace.h"
#include "tracing/trace_json.h"
#include "tracing/trace_source.h"
#include "tracing/trace_text.h"
#include "tracing_region.h"

using namespace whocall;
using namespace whocall::test;

namespace {

Trace trace_of(const std::vector<std::byte>& bytes) {
  return Trace(read_trace(std::make_shared<RegionBytes>(bytes), bytes.size(), "trace"));
}

Trace trace_of(const std::vector<Region>& regions) { return trace_of(file_of(regions)); }

// The lines of the tree from the time on that is told with them, without times and threads.
std::string text_of(const Trace& trace, const CallChoice& choice = {}) {
  std::vector<std::size_t> threads(trace.threads().size());
  for (std::size_t at = 0; at < threads.size(); ++at) {
    threads[at] = at;
  }
  const TraceNames names{{{0xa, "a"}, {0xb, "b"}, {0xc, "c"}}, {}};
  const TracePaint paint;
  TraceText writer(trace, threads, choice, names, paint);
  std::string all;
  for (std::string piece = writer.next(); !piece.empty(); piece = writer.next()) {
    all += piece;
  }
  std::string lines;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    lines += all.substr(at + 36, end - at - 36 + 1);
    at = end + 1;
  }
  return lines;
}

std::string reason_of(const std::vector<std::byte>& bytes) {
  try {
    trace_of(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("calls that return") {
  Region region(7);
  region.enter(100, 0xa, 0x1, 0).enter(110, 0xb, 0x2, 1).exit(115, 0xb, 0x2, 1);
  region.enter(120, 0xb, 0x3, 1).enter(121, 0xc, 0x4, 2).exit(125, 0xc, 0x4, 2);
  region.exit(130, 0xb, 0x3, 1).exit(140, 0xa, 0x1, 0);
  const Trace trace = trace_of({region});
  CHECK(trace.measure(0).calls == 4);
  CHECK(trace.functions() == std::vector<Address>{0xa, 0xb, 0xc});
  CHECK(text_of(trace) ==
        "a {  <- 0x1\n"
        "  b  <- 0x2\n"
        "  b {  <- 0x3\n"
        "    c  <- 0x4\n"
        "  } b\n"
        "} a\n");
}

TEST_CASE("what was left shows where an outer function goes on") {
  Region region(7);
  region.enter(100, 0xa, 0x1, 0).enter(110, 0xb, 0x2, 1).enter(120, 0xc, 0x3, 2);
  region.enter(130, 0xb, 0x4, 1).exit(150, 0xa, 0x1, 0);
  CHECK(text_of(trace_of({region})) ==
        "a {  <- 0x1\n"
        "  b {  <- 0x2\n"
        "    c {  <- 0x3\n"
        "    } c, left without a return\n"
        "  } b, left without a return\n"
        "  b {  <- 0x4\n"
        "  } b, left without a return\n"
        "} a\n");
}

TEST_CASE("a ring that has lost the beginning: the shadow stack tells what is around") {
  Region region(7);
  region.enter(100, 0xa, 0x1, 0);
  for (std::uint64_t at = 0; at < 20; ++at) {
    region.enter(200 + 2 * at, 0xb, 0x2, 1).exit(201 + 2 * at, 0xb, 0x2, 1);
  }
  region.live(0xa, 0x1);
  const Trace trace = trace_of({region});
  CHECK(trace.threads()[0].lost() == 25);
  CHECK(trace.measure(0).outer == 1);
  const std::string text = text_of(trace);
  CHECK(text.starts_with("a {  <- 0x1  (began before)\n  b  <- 0x2\n"));
  CHECK(text.ends_with("} a, still running\n"));
}

TEST_CASE("a return whose call is lost") {
  Region region(7);
  region.exit(100, 0xb, 0x2, 1).exit(110, 0xa, 0x1, 0);
  CHECK(text_of(trace_of({region})) == "} b  (began before)\n} a  (began before)\n");
}

TEST_CASE("records of another lap and of no kind are left out") {
  Region region(7);
  region.enter(100, 0xa, 0x1, 0).enter(110, 0xb, 0x2, 1).exit(120, 0xb, 0x2, 1);
  region.exit(130, 0xa, 0x1, 0);
  region.ring[1].time |= 1U << WCT_KIND_BITS;
  region.ring[2].time &= ~std::uint64_t{3};
  const Trace trace = trace_of({region});
  CHECK(trace.measure(0).damaged == 2);
  CHECK(text_of(trace) == "a  <- 0x1\n");
}

TEST_CASE("a function at address 0 is one of the trace's") {
  Region region(7);
  region.enter(100, 0, 0, 0).exit(140, 0, 0, 0);
  const Trace trace = trace_of({region});
  CHECK(trace.functions() == std::vector<Address>{0});
  CHECK(trace.call_sites() == std::vector<Address>{0});
}

TEST_CASE("threads in the order of time") {
  Region one(7);
  one.enter(100, 0xa, 0x1, 0).exit(400, 0xa, 0x1, 0);
  Region other(8);
  other.enter(200, 0xb, 0x1, 0).enter(210, 0xc, 0x1, 1).exit(300, 0xc, 0x1, 1);
  CHECK(text_of(trace_of({one, other})) ==
        "a  <- 0x1\n"
        "b {  <- 0x1\n"
        "  c  <- inlined into b\n"
        "} b, left without a return\n");
}

TEST_CASE("choices") {
  Region region(7);
  region.enter(100, 0xa, 0x1, 0).enter(110, 0xb, 0x2, 1).enter(120, 0xc, 0x3, 2);
  region.exit(130, 0xc, 0x3, 2).exit(140, 0xb, 0x2, 1).exit(150, 0xa, 0x1, 0);
  const Trace trace = trace_of({region});
  CHECK(text_of(trace, {.most_depth = 0, .roots = {}, .visible = {}, .shortest = 0}) ==
        "a  <- 0x1\n");
  CallChoice below;
  below.roots = {0xb};
  CHECK(text_of(trace, below) == "b {  <- 0x2\n  c  <- 0x3\n} b\n");
  CallChoice only;
  only.visible = {0xa, 0xc};
  CHECK(text_of(trace, only) == "a {  <- 0x1\n  c  <- 0x3\n} a\n");
}

TEST_CASE("calls that lasted for so long") {
  Region region(7);
  region.enter(100, 0xa, 0x1, 0).enter(110, 0xb, 0x2, 1).enter(120, 0xc, 0x3, 2);
  region.exit(130, 0xc, 0x3, 2).exit(140, 0xb, 0x2, 1).enter(150, 0xc, 0x4, 1);
  region.exit(200, 0xc, 0x4, 1).exit(210, 0xa, 0x1, 0);
  const Trace trace = trace_of({region});
  CallChoice choice;
  choice.shortest = 11;
  CHECK(text_of(trace, choice) == "a {  <- 0x1\n  b  <- 0x2\n  c  <- 0x4\n} a\n");
  choice.shortest = 50;  // or longer
  CHECK(text_of(trace, choice) == "a {  <- 0x1\n  c  <- 0x4\n} a\n");
  const Profile profile(trace, {0}, choice);
  CHECK(profile.functions().at(0xc).calls == 1);
  CHECK(profile.functions().at(0xa).self == 60);  // with b's time, which has no row
  CHECK_FALSE(profile.functions().contains(0xb));
  choice.shortest = 111;
  CHECK(text_of(trace, choice).empty());
}

TEST_CASE("counts and times") {
  Region region(7);
  region.enter(100, 0xa, 0x1, 0).enter(110, 0xb, 0x2, 1).enter(120, 0xb, 0x3, 2);
  region.exit(150, 0xb, 0x3, 2).exit(160, 0xb, 0x2, 1).exit(200, 0xa, 0x1, 0);
  const Trace trace = trace_of({region});
  const CallChoice choice;
  const Profile profile(trace, {0}, choice);
  const CallCount a = profile.functions().at(0xa);
  const CallCount b = profile.functions().at(0xb);
  CHECK(a.calls == 1);
  CHECK(a.total == 100);
  CHECK(a.self == 50);
  CHECK(b.calls == 2);
  CHECK(b.total == 50);  // of the outer one
  CHECK(b.self == 50);
  CHECK(profile.edges().at({0x3, false, 0xb}).calls == 1);
  const std::unordered_map<Address, std::string> names{{0xa, "a"}, {0xb, "b;c"}};
  FoldedStacks folded(profile, names);
  CHECK(folded.next() == "a 50\na;b:c 20\na;b:c;b:c 30\n");
}

TEST_CASE("ticks become nanoseconds by two moments") {
  Region region(7);
  region.head.clock = WCT_CLOCK_TICKS;
  region.head.began = {1000, 5000};
  region.head.latest = {3000, 6000};  // two ticks a nanosecond
  region.enter(1200, 0xa, 0x1, 0).exit(1400, 0xa, 0x1, 0);
  const Trace trace = trace_of({region});
  CHECK(trace.measure(0).first == 5100);
  CHECK(trace.measure(0).last == 5200);
}

TEST_CASE("JSON") {
  Region region(7, "wor\"ker");
  region.enter(1000, 0xa, 0x1, 0).exit(3500, 0xa, 0x1, 0);
  const Trace trace = trace_of({region});
  const TraceNames names{{{0xa, "a"}}, {{0x1, "main"}}};
  const CallChoice choice;
  TraceJson writer(trace, {0}, choice, names);
  CHECK(writer.next() ==
        "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
        "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1000, \"tid\": 7, "
        "\"args\": {\"name\": \"wor\\\"ker\"}},\n"
        "{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1000, \"tid\": 7, \"ts\": 0.000, "
        "\"dur\": 2.500, \"args\": {\"from\": \"main\"}}\n]}\n");
  CHECK(writer.next().empty());
}

TEST_CASE("regions that contradict themselves are left out, with a sentence") {
  const auto remarks_with = [](auto change) {
    Region wrong(8);
    wrong.enter(1, 0xa, 0x1, 0);
    change(wrong.head);
    const Trace trace = trace_of({Region(7).enter(1, 0xa, 0x1, 0), wrong});
    return std::pair(trace.threads().size(), trace.source().remarks);
  };
  const auto [threads, remarks] = remarks_with([](wct_region& head) { head.ring_capacity = 15; });
  CHECK(threads == 1);
  REQUIRE(remarks.size() == 1);
  CHECK(remarks[0].find("tells sizes that do not fit together") != std::string::npos);
  CHECK(remarks_with([](wct_region& head) { head.ring_capacity = 1ULL << 63U; }).first == 1);
  CHECK(remarks_with([](wct_region& head) { head.stack_capacity = ~0ULL; }).first == 1);
  CHECK(remarks_with([](wct_region& head) { head.ring_offset = ~0ULL; }).first == 1);
  CHECK(remarks_with([](wct_region& head) { head.size = ~0ULL; }).first == 1);
  CHECK(remarks_with([](wct_region& head) { head.version = 9; }).first == 1);
  CHECK(remarks_with([](wct_region& head) { head.event_size = 23; }).first == 1);
  CHECK(remarks_with([](wct_region& head) { head.first_event = 2; }).first == 1);
  const auto deep = remarks_with([](wct_region& head) { head.depth = ~0ULL; });
  CHECK(deep.first == 2);
  CHECK(deep.second.size() == 1);
  CHECK(remarks_with([](wct_region& head) { head.count = ~0ULL; }).first == 2);
}

// A process whose memory is one region, and no mapping around it holds more.
std::string reason_in_memory(Region region) {
  constexpr Address kPlace = 0x10000;
  region.head.address = kPlace;
  const auto bytes = region.bytes();
  ProcessImage process;
  process.arch = &kX86_64;
  Mapping mapping;
  mapping.range = {kPlace, kPlace + bytes.size()};
  mapping.readable = mapping.writable = true;
  process.mappings.push_back(mapping);
  process.memory = std::make_unique<SegmentMemory>(
      std::vector<SegmentMemory::Segment>{{.begin = kPlace, .bytes = bytes}});
  try {
    find_trace(process);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("a region in memory is no larger than the memory around it") {
  Region region(7);
  region.enter(1, 0xa, 0x1, 0);
  CHECK(reason_in_memory(region).empty());
  // All fits together, and nobody could read it in a lifetime.
  region.head.ring_capacity = std::uint64_t{1} << 50U;
  region.head.count = std::uint64_t{1} << 51U;
  region.head.size = std::uint64_t{1} << 60U;
  CHECK(reason_in_memory(region).find("tells sizes that do not fit together") != std::string::npos);
}

TEST_CASE("a reading beyond all times") {
  Region region(7);
  region.head.clock = WCT_CLOCK_TICKS;
  region.head.began = {1000, 5000};
  region.head.latest = {1001, 6000};  // a thousand nanoseconds a tick
  region.enter((std::uint64_t{1} << 55U) - 1, 0xa, 0x1, 0);
  CHECK(trace_of({region}).measure(0).first == 1'000'000'000'000'005'000);
}

TEST_CASE("files that are none") {
  const auto good = file_of({Region(7).enter(1, 0xa, 0x1, 0)});
  CHECK(reason_of(good).empty());
  CHECK(reason_of({}).find("is not a call trace") != std::string::npos);
  CHECK(reason_of(file_of({})).find("holds no thread") != std::string::npos);
  auto later = good;
  later[8] = std::byte{2};
  CHECK(reason_of(later).find("another version") != std::string::npos);
  for (std::size_t size = 0; size < good.size(); size += 61) {
    reason_of({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
  }
}
