// What is unpacked in a file: holes, limits, parts of files, pipes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "base/regular_file.h"
#include "packing/file_part.h"
#include "packing/sparse_file.h"
#include "packing_packers.h"
#include "temporary_file.h"

namespace whocall {
namespace {

using namespace whocall::testing;

std::span<const std::byte> bytes_of_text(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string contents_of(int file) {
  struct stat status = {};
  REQUIRE(::fstat(file, &status) == 0);
  std::string contents(static_cast<std::size_t>(status.st_size), '\0');
  REQUIRE(::pread(file, contents.data(), contents.size(), 0) == status.st_size);
  return contents;
}

struct Output {
  Output() : file(::open(path.path().c_str(), O_RDWR)) {}

  TemporaryFile path{""};
  Descriptor file;
  WritePlace place{file.get(), "/tmp"};
};

// The setting for one test.
struct Limited {
  explicit Limited(const char* text) { ::setenv(kUnpackLimitVariable, text, 1); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;
  ~Limited() { ::unsetenv(kUnpackLimitVariable); }
};

TEST_CASE("sparse file: it is what was written, in pieces of any size") {
  std::string wanted(100'000, '\0');
  for (const std::size_t place : {0U, 4095U, 4096U, 20'000U, 65'535U, 99'999U}) {
    wanted[place] = 'x';
  }
  for (const std::size_t piece : {1U, 4095U, 4096U, 5000U, 200'000U}) {
    for (const std::size_t zeros : {0U, 1U, 4096U, 50'000U}) {
      const Output output;
      SparseFile file(output.place, "input");
      const std::string text = wanted + std::string(zeros, '\0');
      for (std::size_t at = 0; at < text.size(); at += piece) {
        file.write(bytes_of_text(text).subspan(at, std::min(piece, text.size() - at)));
      }
      CHECK(file.end() == text.size());
      CHECK(contents_of(output.file.get()) == text);
    }
  }
}

TEST_CASE("sparse file: zeros are holes") {
  const Output output;
  TextSource source("begin" + std::string(64 << 20U, '\0') + "end");
  unsigned pieces = 0;
  const std::uint64_t size = write_sparse(source, output.place, "input", [&] { ++pieces; });
  CHECK(size == (64 << 20U) + 8);
  CHECK(pieces == 257);
  struct stat status = {};
  REQUIRE(::fstat(output.file.get(), &status) == 0);
  CHECK(static_cast<std::uint64_t>(status.st_size) == size);
  CHECK(status.st_blocks * 512 <= 1 << 16U);
}

TEST_CASE("sparse file: nothing is written beyond the limit, holes count") {
  const Limited limit("1M");
  const Output output;
  TextSource source(std::string((1 << 20U) + 1, '\0'));
  CHECK_THROWS_WITH_AS(write_sparse(source, output.place, "input", [] {}),
                       "input: unpacks to more than 1 MiB. If that is right, allow it: "
                       "WHOCALL_UNPACK_LIMIT=1G",
                       Error);
  CHECK(contents_of(output.file.get()).empty());
  TextSource fits(std::string(1 << 20U, '\0'));
  CHECK(write_sparse(fits, output.place, "input", [] {}) == 1 << 20U);
}

TEST_CASE("sparse file: a disk that is full is named") {
  const Descriptor full(::open("/dev/full", O_WRONLY));
  SparseFile file({full.get(), "/tmp"}, "input");
  // /dev/full has a name, and lies in /dev.
  CHECK_THROWS_WITH_AS(file.write(bytes_of_text("text")),
                       "input: cannot be unpacked: /dev is full. Free some space, or write to "
                       "another folder",
                       Error);
  CHECK_THROWS_WITH_AS(fail_to_write("input", {-1, "/folder"}, EDQUOT),
                       "input: cannot be unpacked: /folder is full. Free some space, or name "
                       "another folder in TMPDIR",
                       Error);
  CHECK_THROWS_AS(fail_to_write("input", {-1, "/folder"}, EIO), Error);
}

TEST_CASE("unpack limit: numbers and units") {
  CHECK(unpack_limit() == kUnpackLimit);
  const std::pair<const char*, std::uint64_t> good[] = {{"7", 7},
                                                        {"200k", 200 << 10U},
                                                        {"3M", 3 << 20U},
                                                        {"", kUnpackLimit},
                                                        {"2T", 2ULL << 40U},
                                                        {"99999999T", INT64_MAX},
                                                        {"0", 0},
                                                        {"18446744073709551615", INT64_MAX}};
  for (const auto& [text, bytes] : good) {
    const Limited limit(text);
    CHECK(unpack_limit() == bytes);
  }
  for (const char* text : {"G", "-1", "1 G", "1GG", "0x10", "99999999999999999999", "1.5G"}) {
    const Limited limit(text);
    CHECK_THROWS_AS(unpack_limit(), Error);
  }
}

TEST_CASE("room: a file that nobody named leaves some space") {
  const Output output;
  require_room(1 << 20U, "input", {-1, "/tmp"});
  require_room(1 << 20U, "input", output.place);
  CHECK_THROWS_AS(require_room(1 << 20U, "input", {-1, "/nonexistent"}), Error);
  const Limited limit("8000000T");
  CHECK_THROWS_WITH_AS(require_room(std::uint64_t{1} << 62U, "input", {-1, "/tmp"}),
                       "input: cannot be unpacked: /tmp is full. Free some space, or name another "
                       "folder in TMPDIR",
                       Error);
}

TEST_CASE("file part: a stretch, unpacked where it is packed") {
  const std::string inner = some_contents(200'000);
  for (const Packing packing : kPackings) {
    const std::string packed = packed_by(packing, inner);
    const TemporaryFile file("before" + packed + "behind");
    const Descriptor open(::open(file.path().c_str(), O_RDONLY));
    FilePart part(open.get(), "x", 6, packed.size());
    CHECK(part.skip(1000));
    std::vector<std::byte> room(50'000);
    CHECK(read_fully(part, room) == room.size());
    CHECK(std::ranges::equal(room, bytes_of_text(inner).subspan(1000, room.size())));
    const Output output;
    CHECK(part.write(output.place) == inner.size() - 51'000);
    CHECK(contents_of(output.file.get()) == inner.substr(51'000));
    CHECK(!part.skip(1));
    CHECK(part.damage().empty());
    FilePart cut(open.get(), "x", 6, packed.size() - 1);
    CHECK(all_of(cut).size() <= inner.size());
    CHECK(cut.damage() == "it ends in the middle");
  }
  const TemporaryFile plain("plain text");
  const Descriptor open(::open(plain.path().c_str(), O_RDONLY));
  FilePart part(open.get(), "x", 2, 5);
  CHECK(all_of(part) == "ain t");
  FilePart beyond(open.get(), "x", UINT64_MAX, UINT64_MAX);
  CHECK(all_of(beyond).empty());
  FilePart rest(open.get(), "x", 6, UINT64_MAX);
  CHECK(all_of(rest) == "text");
  CHECK(DescriptorSource(open.get(), "x", 6, UINT64_MAX).total() == 4);  // for people who wait
}

TEST_CASE("descriptor source: pipes, and what cannot be read") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_NONBLOCK) == 0);
  const Descriptor out(ends[0]);
  {
    const Descriptor in(ends[1]);
    REQUIRE(::write(in.get(), "abc", 3) == 3);
  }
  DescriptorSource source(out.get(), "pipe");
  CHECK(all_of(source) == "abc");
  CHECK(source.done() == 3);
  CHECK(source.total() == 0);
  DescriptorSource nowhere(-1, "nowhere");
  CHECK_THROWS_WITH_AS(all_of(nowhere),
                       doctest::Contains("nowhere: cannot be read: Bad file descriptor"), Error);
  const TemporaryFile file("contents");
  const Descriptor open(::open(file.path().c_str(), O_RDONLY));
  REQUIRE(::lseek(open.get(), 3, SEEK_SET) == 3);
  DescriptorSource rest(open.get(), "file");
  CHECK(rest.total() == 5);
  CHECK(all_of(rest) == "tents");
}

}  // namespace
}  // namespace whocall
