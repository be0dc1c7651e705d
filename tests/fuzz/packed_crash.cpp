// Crashes that are packed, or in a report: what comes out is the same however it is read, within
// the limit, and the file that it is written to holds it. Two bytes say how it is read.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/regular_file.h"
#include "fuzz.h"
#include "packing/headed_source.h"
#include "packing/unpacked_source.h"
#include "process/input/apport_report.h"
#include "process/input/packed_crash.h"

namespace {

using namespace whocall;

constexpr std::size_t kMost = std::size_t{16} << 20U;  // bytes: more costs the fuzzer too much

class InputSource final : public ByteSource {
 public:
  InputSource(std::span<const std::byte> bytes, std::size_t piece) : rest_(bytes), piece_(piece) {}

  std::size_t read(std::span<std::byte> room) override {
    const std::size_t size = std::min({room.size(), piece_, rest_.size()});
    std::copy_n(rest_.begin(), size, room.begin());
    rest_ = rest_.subspan(size);
    return size;
  }

 private:
  std::span<const std::byte> rest_;
  std::size_t piece_;
};

struct Contents {
  std::vector<std::byte> bytes;
  bool is_whole = false;
  std::string damage;
};

Contents contents_of(ByteSource& source, std::size_t room_size) {
  Contents made;
  std::vector<std::byte> room(room_size);
  while (const std::size_t size = source.read(room)) {
    fuzz::demand(size <= room.size());
    made.bytes.insert(made.bytes.end(), room.begin(), room.begin() + size);
    if (made.bytes.size() > kMost) {
      return made;
    }
  }
  made.is_whole = true;
  made.damage = source.damage();
  return made;
}

// One layer of it.
Contents unpacked(std::span<const std::byte> bytes, std::size_t piece, std::size_t room) {
  InputSource source(bytes, piece);
  HeadedSource headed(source, kPackingMark);
  if (const auto packing = packing_of(headed.head())) {
    UnpackedSource inside(*packing, headed);
    return contents_of(inside, room);
  }
  try {
    ApportReport report(headed, "input");
    fuzz::demand(report.fields().size() <= kMostFields);
    for (const auto& [key, value] : report.fields()) {
      fuzz::demand(key.size() <= kLongestField && value.size() <= kLongestField);
    }
    return contents_of(report, room);
  } catch (const Error&) {
    return {};
  }
}

// Of a damaged stream a larger room may hold less.
void compare(const Contents& one, const Contents& other) {
  const std::size_t both = std::min(one.bytes.size(), other.bytes.size());
  fuzz::demand(std::equal(one.bytes.begin(), one.bytes.begin() + both, other.bytes.begin()));
  if (one.is_whole && other.is_whole) {
    fuzz::demand(one.damage.empty() == other.damage.empty());
    fuzz::demand(!one.damage.empty() || one.bytes.size() == other.bytes.size());
  }
}

void receive(const fuzz::Scratch& input, const fuzz::Scratch& output) {
  const Descriptor in(::open(input.path().c_str(), O_RDONLY | O_CLOEXEC));
  const Descriptor out(::open(output.path().c_str(), O_RDWR | O_CLOEXEC));
  try {
    PackedCrash crash(in.get(), "input");
    const std::uint64_t size = crash.write({out.get(), "/"});
    struct stat status = {};
    fuzz::demand(::fstat(out.get(), &status) == 0);
    fuzz::demand(static_cast<std::uint64_t>(status.st_size) == size && size <= kMost);
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Scratch file;
  static const fuzz::Scratch output;
  ::setenv(kUnpackLimitVariable, "16M", 1);
  fuzz::Input input(data, size);
  const std::size_t piece = input.byte() + 1U;
  const std::size_t room = input.byte() + 1U;
  const std::vector<std::byte> own = input.copy();
  compare(unpacked(own, piece, room), unpacked(own, own.size() + 1, std::size_t{1} << 18U));
  if (file.write(own) && output.write({})) {
    receive(file, output);
  }
  return 0;
}
