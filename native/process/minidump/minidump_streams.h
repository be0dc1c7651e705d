// The streams of a minidump: where they lie, and lists and texts in them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/budget.h"
#include "base/byte_view.h"

namespace whocall {

// MINIDUMP_STREAM_TYPE, and those of Breakpad and Crashpad.
enum class DumpStream : std::uint32_t {
  threads = 3,
  modules = 4,
  memory = 5,
  exception = 6,
  system = 7,
  memory64 = 9,
  misc = 15,
  thread_names = 24,
  processors = 0x47670001,  // /proc/cpuinfo
  status = 0x47670004,      // /proc/PID/status
  command = 0x47670006,
  auxiliary = 0x47670008,
  maps = 0x47670009,
  crashpad = 0x43500001,
};
inline constexpr std::size_t kDumpStreams = 14;

class MinidumpStreams {
 public:
  // `name` names the file and has to outlive the object, as has the budget. Throws Error where
  // there are no streams.
  MinidumpStreams(ByteView file, const std::string& name, Budget& budget);

  [[nodiscard]] const ByteView& file() const { return file_; }
  [[nodiscard]] std::uint64_t time() const;  // seconds since 1970; 0: not told

  [[nodiscard]] bool has(DumpStream kind) const { return place_of(kind).has_value(); }
  // As much of it as there is.
  [[nodiscard]] ByteView get(DumpStream kind) const;
  // From its beginning to the end of the file.
  [[nodiscard]] ByteView from(DumpStream kind) const;

  // Empty where the file does not reach so far.
  [[nodiscard]] ByteView part(std::uint64_t place, std::uint64_t size) const {
    return file_.slice(place, size).value_or(ByteView());
  }
  // A string of UTF-16 behind its size in bytes, as UTF-8; nobody's path is longer than it is cut
  // off at.
  [[nodiscard]] std::string text(std::uint64_t place) const;

  // The rows of a list, each of so many bytes, with their count in front, which some writers pad to
  // 8 bytes. What the file lacks is not counted, but in `told`.
  struct Rows {
    ByteView bytes;
    std::uint64_t count = 0;
    std::uint64_t told = 0;
  };
  [[nodiscard]] Rows rows(DumpStream kind, std::uint64_t size) const;

  // Throws Error, which says that the file cannot be used.
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  struct Place {
    std::uint64_t at = 0;
    std::uint64_t size = 0;
  };
  [[nodiscard]] std::optional<Place> place_of(DumpStream kind) const;
  bool note_streams();

  ByteView file_;
  const std::string& name_;
  Budget& budget_;
  std::array<std::optional<Place>, kDumpStreams> places_{};
};

}  // namespace whocall
