#include "tracing/trace_events.h"

#include <algorithm>
#include <bit>

#include "base/interrupt.h"
#include "runtime/trace/layout.h"

namespace whocall {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{1} << 15U;  // events that are read at once
constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << WCT_ADDRESS_BITS) - 1;
constexpr double kMostNanoseconds = 1e18;  // 30 years
constexpr std::uint64_t kReadingMask = ~std::uint64_t{0} >> WCT_TIME_SHIFT;

}  // namespace

std::uint64_t ThreadClock::nanoseconds(std::uint64_t reading) const {
  const std::uint64_t began = counts_ticks_ ? began_.ticks : began_.nanoseconds;
  const std::uint64_t passed = (reading - began) & kReadingMask;
  if (passed > kReadingMask / 2) {  // before the thread began
    return began_.nanoseconds;
  }
  if (!counts_ticks_) {
    return began_.nanoseconds + passed;
  }
  // Of a damaged reading it may be more than the type holds.
  const double nanoseconds = std::min(static_cast<double>(passed) * rate_, kMostNanoseconds);
  return began_.nanoseconds + static_cast<std::uint64_t>(nanoseconds);
}

double tick_rate(const std::vector<TraceThread>& threads) {
  double rate = 1;
  std::uint64_t longest = 0;
  for (const TraceThread& thread : threads) {
    const std::uint64_t ticks = thread.latest.ticks - thread.began.ticks;
    const std::uint64_t passed = thread.latest.nanoseconds - thread.began.nanoseconds;
    if (thread.counts_ticks && thread.latest.ticks > thread.began.ticks &&
        thread.latest.nanoseconds > thread.began.nanoseconds && ticks > longest) {
      longest = ticks;
      rate = static_cast<double>(passed) / static_cast<double>(ticks);
    }
  }
  return rate > 1000 ? 1 : rate;  // no counter is slower than 1 MHz
}

EventCursor::EventCursor(const TraceBytes& bytes, const TraceThread& thread, double rate)
    : bytes_(bytes),
      thread_(thread),
      clock_(thread, rate),
      number_(thread.oldest()),
      lap_shift_(static_cast<std::uint64_t>(std::countr_zero(thread.ring_capacity))) {}

// Up to the ring's end at most, so that a piece is one run of bytes.
bool EventCursor::fill() {
  const std::uint64_t index = number_ & (thread_.ring_capacity - 1);
  const std::uint64_t wanted =
      std::min({kPiece, thread_.events - number_, thread_.ring_capacity - index});
  piece_.resize(wanted * sizeof(wct_event));
  check_interrupt();
  const std::size_t got = bytes_.read(thread_.ring_place + index * sizeof(wct_event), piece_);
  piece_first_ = number_;
  piece_count_ = got / sizeof(wct_event);
  if (piece_count_ == 0) {  // cannot be read
    number_ += wanted;
    damaged_ += wanted;
  }
  return piece_count_ != 0;
}

bool EventCursor::decode(ByteView record, std::uint64_t number) {
  const std::uint64_t time = record.read<std::uint64_t>(offsetof(wct_event, time)).value_or(0);
  const std::uint64_t function =
      record.read<std::uint64_t>(offsetof(wct_event, function)).value_or(0);
  const std::uint64_t site = record.read<std::uint64_t>(offsetof(wct_event, call_site)).value_or(0);
  const std::uint64_t kind = time & ((1U << WCT_KIND_BITS) - 1);
  const std::uint64_t lap = time >> WCT_KIND_BITS & ((1U << WCT_LAP_BITS) - 1);
  const std::uint64_t true_lap = number >> lap_shift_ & ((1U << WCT_LAP_BITS) - 1);
  if (kind == 0 || lap != true_lap) {
    return false;
  }
  event_.kind = static_cast<EventKind>(kind);
  event_.function = function & kAddressMask;
  event_.call_site = site & kAddressMask;
  event_.depth =
      static_cast<std::uint32_t>(function >> WCT_ADDRESS_BITS | site >> WCT_ADDRESS_BITS << 16U);
  event_.time = std::max(event_.time, clock_.nanoseconds(time >> WCT_TIME_SHIFT));
  return true;
}

const TraceEvent* EventCursor::next() {
  while (number_ < thread_.events) {
    if (number_ - piece_first_ >= piece_count_ && !fill()) {
      continue;
    }
    const std::uint64_t number = number_++;
    const std::size_t at = (number - piece_first_) * sizeof(wct_event);
    const ByteView piece(piece_, thread_.endian);
    const auto record = piece.slice(at, sizeof(wct_event));
    if (record && decode(*record, number)) {
      return &event_;
    }
    ++damaged_;
  }
  return nullptr;
}

}  // namespace whocall
