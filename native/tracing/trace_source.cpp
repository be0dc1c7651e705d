#include "tracing/trace_source.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "arch/architecture_choice.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/long_work.h"
#include "base/mapped_file.h"
#include "runtime/trace/layout.h"
#include "tracing/region_collector.h"
#include "tracing/region_header.h"

namespace whocall {
namespace {

constexpr std::uint64_t kMostMaps = std::uint64_t{64} << 20U;  // bytes of text

class FileBytes final : public TraceBytes {
 public:
  explicit FileBytes(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}
  std::size_t read(std::uint64_t place, std::span<std::byte> out) const override {
    const auto bytes = file_->bytes();
    if (place >= bytes.size()) {
      return 0;
    }
    const std::size_t size = std::min<std::uint64_t>(out.size(), bytes.size() - place);
    std::memcpy(out.data(), bytes.data() + place, size);
    return size;
  }

 private:
  std::shared_ptr<const MappedFile> file_;
};

// As many bytes as are there.
std::string text_at(const TraceBytes& bytes, std::uint64_t place, std::uint64_t size) {
  std::string text;
  std::array<std::byte, 4096> piece{};
  while (text.size() < size) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), size - text.size());
    const std::size_t got = bytes.read(place + text.size(), std::span(piece).first(wanted));
    text.append(reinterpret_cast<const char*>(piece.data()), got);
    if (got < wanted) {
      break;
    }
  }
  return text;
}

}  // namespace

TraceSource read_trace(std::shared_ptr<const TraceBytes> bytes, std::uint64_t size,
                       const std::string& path) {
  TraceSource source;
  source.path = path;
  source.bytes = std::move(bytes);
  const auto endian = order_of_magic(*source.bytes, 0, WCT_FILE_MAGIC);
  if (!endian) {
    throw Error(path, "is not a call trace",
                "Give a file that WHOCALL_TRACE_FILE named, or a core");
  }
  const auto number = [&](std::size_t offset, unsigned width) {
    return number_at(*source.bytes, offset, width, *endian).value_or(0);
  };
  if (number(offsetof(wct_file, version), 4) != WCT_VERSION) {
    throw Error(path, "is a call trace of another version of the format",
                "Use the whocall that the program's libwhocall-trace belongs to");
  }
  RegionCollector collector(source);
  for (std::uint64_t page = WCT_PAGE; page < size && !collector.is_full(); page += WCT_PAGE) {
    check_interrupt_at(page / WCT_PAGE, kManyEntries);
    if (order_of_magic(*source.bytes, page, WCT_REGION_MAGIC) == endian) {
      collector.add(page, *endian, size - page);
    }
  }
  source.maps = text_at(*source.bytes, number(offsetof(wct_file, modules_offset), 8),
                        std::min(number(offsetof(wct_file, modules_size), 8), kMostMaps));
  const std::string machine =
      text_at(*source.bytes, offsetof(wct_file, machine), sizeof(wct_file::machine));
  source.arch = architecture_of_host(
      machine.substr(0, machine.find('\0')),
      static_cast<unsigned>(number(offsetof(wct_file, pointer_size), 4)), *endian);
  if (source.threads.empty()) {
    throw Error(path, source.remarks.empty() ? "holds no thread" : source.remarks.front(),
                "Let the program run until an instrumented function was called");
  }
  collector.put_in_order();
  return source;
}

TraceSource open_trace_file(const std::string& path) {
  const LongWork work("Reading", path);
  const auto file = MappedFile::open(path);
  return read_trace(std::make_shared<FileBytes>(file), file->bytes().size(), path);
}

bool is_trace_file(const std::string& path) {
  try {
    const auto file = MappedFile::open(path);
    return order_of_magic(FileBytes(file), 0, WCT_FILE_MAGIC).has_value();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace whocall
