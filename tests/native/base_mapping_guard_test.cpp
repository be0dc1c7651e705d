// Files that become shorter while they are mapped: the process lives on, and knows.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "base/mapped_file.h"
#include "base/mapping_guard.h"
#include "temporary_file.h"

namespace whocall {
namespace {

const std::size_t kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

char at(const MappedFile& file, std::size_t offset) {
  return static_cast<char>(file.bytes()[offset]);
}

bool cut(const std::string& path, std::size_t size) {
  return ::truncate(path.c_str(), static_cast<off_t>(size)) == 0;
}

// In a process of its own: one in which a file was cut keeps no facts any more.
int status_of_child(bool (*work)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

bool counts(std::uint64_t expected) { return cut_files().count == expected; }

TEST_CASE("mapping guard: what lies behind the new end reads as zeros, and the file is told") {
  CHECK(status_of_child([] {
          const TemporaryFile file(std::string(4 * kPage, 'x'));
          const auto mapped = MappedFile::open(file.path());
          const bool whole = counts(0);
          cut(file.path(), kPage + 10);
          const std::string read{at(*mapped, kPage), at(*mapped, 4 * kPage - 1),
                                 at(*mapped, 2 * kPage), at(*mapped, kPage - 1)};
          return whole && read == std::string("x\0\0x", 4) && counts(1) && counts(1) &&
                 cut_files().last == file.path();
        }) == 0);
}

TEST_CASE("mapping guard: a file is told that was cut where no page is missing, or that is gone") {
  CHECK(status_of_child([] {
          const TemporaryFile file("whocall");
          auto mapped = MappedFile::open(file.path());
          cut(file.path(), 3);
          return counts(1);
        }) == 0);
  CHECK(status_of_child([] {
          const TemporaryFile file(std::string(2 * kPage, 'x'));
          auto mapped = MappedFile::open(file.path());
          cut(file.path(), 0);
          const bool zero = at(*mapped, kPage) == 0;
          mapped.reset();
          return zero && counts(1);
        }) == 0);
}

TEST_CASE("mapping guard: a file in place of the mapped one, and one that grows, is none") {
  CHECK(status_of_child([] {
          const TemporaryFile file("whocall");
          const TemporaryFile other("who");
          const auto mapped = MappedFile::open(file.path());
          cut(file.path(), 100);
          const bool grown = counts(0);
          return grown && std::rename(other.path().c_str(), file.path().c_str()) == 0 && counts(0);
        }) == 0);
}

bool read_behind_the_end_unguarded() {
  const TemporaryFile file("x");
  const auto guarded = MappedFile::open(file.path());  // so that there is a handler
  std::FILE* const empty = std::tmpfile();
  auto* const page = static_cast<volatile char*>(
      ::mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, ::fileno(empty), 0));
  return *page == 0;
}

// A sanitizer's own handler says so, and exits.
bool ended_by_it(int status) {
  return WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS : WEXITSTATUS(status) != 0;
}

TEST_CASE("mapping guard: any other SIGBUS ends the process as it would have") {
  const int read = status_of_child(&read_behind_the_end_unguarded);
  CHECK(ended_by_it(read));
  const int sent = status_of_child([] {
    const TemporaryFile file("x");
    const auto guarded = MappedFile::open(file.path());
    return ::raise(SIGBUS) == 0;
  });
  CHECK(ended_by_it(sent));
}

}  // namespace
}  // namespace whocall
