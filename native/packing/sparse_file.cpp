#include "packing/sparse_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace whocall {
namespace {

constexpr std::size_t kHole = 4096;                         // bytes
constexpr std::uint64_t kLook = std::uint64_t{64} << 20U;   // bytes between looks at the disk
constexpr std::size_t kMadeAtOnce = std::size_t{1} << 18U;  // bytes
constexpr std::array<std::byte, kHole> kHoleBytes{};

bool is_hole(std::span<const std::byte> block) {
  return std::memcmp(block.data(), kHoleBytes.data(), block.size()) == 0;
}

// Where the block ends in which the byte at `at` of the piece lies; the piece begins at `place`.
std::size_t block_end(std::size_t at, std::size_t size, std::uint64_t place) {
  return std::min(at + kHole - (place + at) % kHole, size);
}

}  // namespace

SparseFile::SparseFile(WritePlace place, std::string name)
    : place_(std::move(place)), name_(std::move(name)), limit_(unpack_limit()) {}

void SparseFile::write(std::span<const std::byte> piece) {
  if (piece.size() > limit_ - size_) {
    require_size(size_ + piece.size(), name_);
  }
  std::size_t at = 0;
  while (at < piece.size()) {
    const std::size_t begin = at;
    std::size_t end = begin;  // of blocks that are not zero
    while (at < piece.size()) {
      const std::size_t next = block_end(at, piece.size(), size_);
      const bool hollow = is_hole(piece.subspan(at, next - at));
      at = next;
      if (hollow) {
        break;
      }
      end = next;
    }
    put(piece.subspan(begin, end - begin), size_ + begin);
  }
  size_ += piece.size();
  if (unseen_ > kLook) {
    require_room(0, name_, place_);
    unseen_ = 0;
  }
}

void SparseFile::put(std::span<const std::byte> run, std::uint64_t at) {
  while (!run.empty()) {
    const ssize_t done = ::pwrite(place_.file, run.data(), run.size(), static_cast<off_t>(at));
    if (done < 0 && errno != EINTR) {
      fail_to_write(name_, place_, errno);
    }
    const auto written = static_cast<std::size_t>(std::max<ssize_t>(done, 0));
    run = run.subspan(written);
    at += written;
    unseen_ += written;
  }
}

std::uint64_t SparseFile::end() {
  if (::ftruncate(place_.file, static_cast<off_t>(size_)) != 0) {
    fail_to_write(name_, place_, errno);
  }
  return size_;
}

std::uint64_t write_sparse(ByteSource& source, const WritePlace& place, const std::string& name,
                           const std::function<void()>& on_piece) {
  SparseFile file(place, name);
  std::vector<std::byte> room(kMadeAtOnce);
  try {
    while (const std::size_t made = read_fully(source, room)) {
      file.write(std::span(room).first(made));
      on_piece();
    }
  } catch (...) {
    (void)::ftruncate(place.file, 0);
    throw;
  }
  return file.end();
}

}  // namespace whocall
