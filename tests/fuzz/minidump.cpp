// Minidumps, and logs with microdumps: what is read of one can be written as a core, and the core
// tells the same.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "fuzz.h"
#include "mutators.h"
#include "process/core/core_file.h"
#include "process/minidump/minidump_as_core.h"
#include "process/process_image.h"

namespace {

using namespace whocall;

constexpr std::uint64_t kMostHeld = 1U << 20U;  // bytes of memory that are worth their writing

// Disjoint and in order, each in the dump.
void require_order(const std::vector<CoreSegment>& segments, std::uint64_t most) {
  Address end = 0;
  for (const CoreSegment& segment : segments) {
    fuzz::demand(segment.address >= end && segment.size > 0 && segment.held <= segment.size);
    fuzz::demand(segment.held == 0 || segment.place <= most);
    end = segment.address + segment.size;
    fuzz::demand(end > segment.address);
  }
}

void read_back(const Minidump& dump, const std::string& core) {
  FileSearch search;
  search.sysroot = "/nonexistent";
  const auto image = open_core(core, search);
  fuzz::demand(image->threads.size() == dump.threads.size());
  fuzz::demand(image->partial_map != dump.is_mapped);
  const Thread& first = image->threads.front();
  fuzz::demand(first.lwp == static_cast<std::int32_t>(dump.threads.front().lwp));
  fuzz::demand(first.signal == (dump.signal ? dump.signal->number : 0));
}

// The files of modules that are not there change nothing.
void convert(MinidumpAsCore& crash, const fuzz::Scratch& core, int file) {
  crash.add_files({{0, "/nonexistent/a"}, {crash.dump().threads.size(), "/nonexistent/b"}});
  (void)crash.take_program("/nonexistent/c");
  require_order(crash.segments(), std::uint64_t{1} << 32U);
  if (held_bytes(crash.segments()) <= kMostHeld) {
    fuzz::demand(crash.write(file) == 0);
    read_back(crash.dump(), core.path());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Scratch input;
  static const fuzz::Scratch core;
  static const int file = ::open(core.path().c_str(), O_RDWR | O_CLOEXEC);
  if (!input.write(std::as_bytes(std::span(data, size))) || file < 0) {
    return 0;
  }
  try {
    MinidumpAsCore crash(MappedFile::open(input.path()));
    convert(crash, core, file);
  } catch (const Error&) {
  }
  (void)take_exhausted_budgets();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  if (size < 64 || std::memcmp(data, "MDMP", 4) != 0 || random() % 3 == 0) {
    return LLVMFuzzerMutate(data, size, most);
  }
  // Numbers of the directory, or any others where numbers stand.
  fuzz::FieldBytes bytes({data, size}, false);
  std::vector<fuzz::Field> fields;
  const std::size_t end = random() % 2 == 0 ? 32 + 12 * 16 : size;
  for (std::size_t at = 8; at + 4 <= std::min(end, size); at += 4) {
    fields.push_back({at, 4});
  }
  fuzz::mutate_field(bytes, fields, random);
  return size;
}
