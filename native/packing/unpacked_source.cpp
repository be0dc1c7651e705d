#include "packing/unpacked_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/interrupt.h"

namespace whocall {
namespace {

constexpr std::size_t kTaken = std::size_t{1} << 18U;  // bytes read at once

// Tapes and disks have blocks, which are far smaller; a file may be one large hole.
constexpr std::size_t kMostPadding = std::size_t{1} << 20U;  // bytes

bool may_be_padded(Packing packing) { return packing == Packing::xz || packing == Packing::gzip; }

}  // namespace

UnpackedSource::UnpackedSource(Packing packing, ByteSource& packed)
    : packing_(packing), packed_(packed), decoder_(decoder_of(packing)), buffer_(kTaken) {}

std::span<const std::byte> UnpackedSource::input() const {
  return std::span(buffer_).subspan(begin_, end_ - begin_);
}

// Keeps what was not taken. False at the end, and where there is no room for more.
bool UnpackedSource::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  if (end_ == buffer_.size()) {
    return false;
  }
  const std::size_t more = packed_.read(std::span(buffer_).subspan(end_));
  end_ += more;
  return more > 0;
}

void UnpackedSource::end_with(std::string damage) {
  damage_ = std::move(damage);
  decoder_.reset();
}

std::size_t UnpackedSource::read(std::span<std::byte> room) {
  std::size_t made = 0;
  while (decoder_ != nullptr && made == 0) {
    check_interrupt();
    if (begin_ == end_ && !has_more_ && !refill()) {
      const std::string why = packed_.damage();
      end_with(why.empty() ? "it ends in the middle" : why);
    } else {
      take_step(room, made);
    }
  }
  return made;
}

void UnpackedSource::take_step(std::span<std::byte> room, std::size_t& made) {
  FrameDecoder::Step step = decoder_->step(input(), room);
  const bool stands = step.taken == 0 && step.made == 0 && !step.ended;
  made = step.made;
  begin_ += step.taken;
  filled_ = filled_ || made > 0;
  has_more_ = made == room.size();
  if (!step.fault.empty()) {
    end_with(std::move(step.fault));
  } else if (step.ended) {
    enter_next_frame();
  } else if (stands && begin_ != end_ && !refill()) {  // as much as it asks for at once
    end_with("it makes no progress");
  }
}

void UnpackedSource::enter_next_frame() {
  empty_ = filled_ ? 0 : empty_ + 1;
  filled_ = has_more_ = false;
  if (empty_ > kMostEmptyFrames) {
    end_with("it has more than " + std::to_string(kMostEmptyFrames) + " frames without contents");
    return;
  }
  std::size_t padding = 0;  // bytes
  do {
    check_interrupt();
    while (may_be_padded(packing_) && begin_ != end_ && buffer_[begin_] == std::byte{0}) {
      ++begin_;
      ++padding;
    }
    if (padding > kMostPadding) {
      end_with("more than a MiB of zeros follow what was unpacked");
      return;
    }
  } while (end_ - begin_ < kPackingMark && refill());
  const bool is_next = end_ - begin_ >= kPackingMark && packing_of(input()) == packing_;
  if (is_next) {
    decoder_ = decoder_of(packing_);
  } else {
    end_with(end_ - begin_ < kPackingMark ? packed_.damage() : "");
  }
}

}  // namespace whocall
