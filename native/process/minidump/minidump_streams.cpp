#include "process/minidump/minidump_streams.h"

#include <algorithm>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/utf16.h"

namespace whocall {
namespace {

constexpr std::array<DumpStream, kDumpStreams> kStreamKinds = {
    DumpStream::threads,    DumpStream::modules,  DumpStream::memory,  DumpStream::exception,
    DumpStream::system,     DumpStream::memory64, DumpStream::misc,    DumpStream::thread_names,
    DumpStream::processors, DumpStream::status,   DumpStream::command, DumpStream::auxiliary,
    DumpStream::maps,       DumpStream::crashpad};

constexpr std::uint64_t kLongestDumpText = 1U << 13U;  // bytes

// The header: a mark, a version, the count and the place of the directory, a sum, the time.
constexpr std::uint64_t kDumpHeader = 32;
constexpr std::uint64_t kCountAt = 8;
constexpr std::uint64_t kDirectoryAt = 12;
constexpr std::uint64_t kTimeAt = 20;

std::optional<std::size_t> stream_index(std::uint32_t kind) {
  const auto* const known = std::ranges::find(kStreamKinds, static_cast<DumpStream>(kind));
  return known == kStreamKinds.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(known - kStreamKinds.begin()));
}

}  // namespace

MinidumpStreams::MinidumpStreams(ByteView file, const std::string& name, Budget& budget)
    : file_(file), name_(name), budget_(budget) {
  if (file_.size() < kDumpHeader) {
    fail("it is shorter than its header");
  }
  if (!note_streams()) {
    fail("it has no streams");
  }
}

std::uint64_t MinidumpStreams::time() const {
  return file_.read<std::uint32_t>(kTimeAt).value_or(0);
}

void MinidumpStreams::fail(const std::string& reason) const {
  throw Error(name_, "cannot be used as a minidump: " + reason, "Write it anew");
}

// Of two streams of a kind the first is it. False where there are none of any kind.
bool MinidumpStreams::note_streams() {
  constexpr std::uint64_t kRow = 12;
  const ByteView rows = file_.from(file_.read<std::uint32_t>(kDirectoryAt).value_or(0));
  const std::uint64_t told = file_.read<std::uint32_t>(kCountAt).value_or(0);
  const std::uint64_t count = std::min(told, rows.size() / kRow);
  bool any = false;
  for (std::uint64_t row = 0; row < count; ++row) {
    check_interrupt_at(row, kManyEntries);
    const auto kind = rows.read<std::uint32_t>(row * kRow).value_or(0);
    const auto size = rows.read<std::uint32_t>(row * kRow + 4).value_or(0);
    const auto place = rows.read<std::uint32_t>(row * kRow + 8).value_or(0);
    if (kind == 0 || place >= file_.size()) {
      continue;
    }
    any = true;
    const auto index = stream_index(kind);
    if (index && !places_[*index]) {
      places_[*index] = Place{place, size};
    }
  }
  return any;
}

std::optional<MinidumpStreams::Place> MinidumpStreams::place_of(DumpStream kind) const {
  const auto index = stream_index(static_cast<std::uint32_t>(kind));
  return index ? places_[*index] : std::nullopt;
}

ByteView MinidumpStreams::from(DumpStream kind) const {
  const auto place = place_of(kind);
  return place ? file_.from(place->at) : ByteView();
}

ByteView MinidumpStreams::get(DumpStream kind) const {
  const ByteView rest = from(kind);
  const std::uint64_t size = place_of(kind).value_or(Place()).size;
  return rest.slice(0, std::min<std::uint64_t>(rest.size(), size)).value_or(ByteView());
}

std::string MinidumpStreams::text(std::uint64_t place) const {
  const std::uint64_t told = part(place, 4).read<std::uint32_t>(0).value_or(0);
  const std::uint64_t size = std::min(told, kLongestDumpText);
  return budget_.draw(Cost::names, size) ? utf8_of_utf16(part(place + 4, size)) : std::string();
}

MinidumpStreams::Rows MinidumpStreams::rows(DumpStream kind, std::uint64_t size) const {
  const ByteView list = from(kind);
  const std::uint64_t told = list.read<std::uint32_t>(0).value_or(0);
  const std::uint64_t whole = place_of(kind).value_or(Place()).size;
  const ByteView rest = list.from(whole == 8 + told * size ? 8 : 4);
  return {rest, std::min(told, rest.size() / size), told};
}

}  // namespace whocall
