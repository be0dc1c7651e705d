// The sandbox: what a process has given up fails, or ends it; what it has kept works.
#include "base/sandbox.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace whocall::test {
namespace {

// A folder with a file, a folder and a socket that somebody listens at.
struct Place {
  Place() {
    std::string name = std::filesystem::temp_directory_path() / "whocall-sandbox-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
    for (const char* sub : {"kept", "other"}) {
      REQUIRE(::mkdir((folder + "/" + sub).c_str(), 0700) == 0);
      const int file = ::open((folder + "/" + sub + "/file").c_str(), O_WRONLY | O_CREAT, 0600);
      REQUIRE(::write(file, "text", 4) == 4);
      ::close(file);
    }
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { std::filesystem::remove_all(folder); }
  std::string folder;
};

constexpr int kEnded = 1000;  // by the sandbox's own sentence
constexpr int kSignal = 2000;

// What the child answers, restricted: 0 or the number of the error.
int answer_of(const SandboxRights& rights, const std::function<bool()>& attempt) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    restrict_self(rights);
    errno = 0;
    const bool worked = attempt();
    ::_exit(worked ? 0 : 2 + errno);
  }
  ::close(ends[1]);
  char said[1024];
  const ssize_t length = ::read(ends[0], said, sizeof said);
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) {
    return kSignal + WTERMSIG(status);
  }
  if (length > 0) {
    CHECK(std::string(said, static_cast<std::size_t>(length)).find("the sandbox ended this") !=
          std::string::npos);
    return kEnded;
  }
  const int code = WEXITSTATUS(status);
  return code == 0 ? 0 : code - 2;
}

bool opens(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  return file >= 0;
}

bool runs_true() {
  const char* words[] = {"/bin/true", nullptr};
  return ::execve(words[0], const_cast<char* const*>(words), nullptr) == 0;
}

bool connects() {
  sockaddr_un name{AF_UNIX, "/nowhere"};
  return ::connect(STDIN_FILENO, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

bool has_both() {
  const bool both = sandbox_support().landlock >= 3 && sandbox_support().seccomp;
  if (!both) {
    MESSAGE("cannot be shown here: the kernel has no Landlock of version 3, or no seccomp");
  }
  return both;
}

const SandboxRights kNothing{};

SandboxRights with(bool SandboxRights::*right) {
  SandboxRights rights;
  rights.*right = true;
  return rights;
}

SandboxRights writing(std::vector<std::string> places) {
  SandboxRights rights;
  rights.writable = std::move(places);
  return rights;
}

SandboxRights all_but_programs(const std::string& place) {
  SandboxRights rights = writing({place});
  rights.network = rights.processes = rights.children = true;
  return rights;
}

TEST_CASE("sandbox: where the kernel has neither, nothing happens") {
  if (sandbox_support().landlock == 0 && !sandbox_support().seccomp) {
    CHECK(answer_of(kNothing, [] { return opens("/dev/null", O_WRONLY); }) == 0);
  }
  CHECK(answer_of(kNothing, [] { return opens("/proc/self/exe", O_RDONLY); }) == 0);
}

TEST_CASE("sandbox: nothing is written, made, moved or removed") {
  if (!has_both()) {
    return;
  }
  const Place place;
  const std::string file = place.folder + "/other/file";
  const std::string fresh = place.folder + "/other/new";
  const auto refused = [&](const std::function<bool()>& attempt) {
    CHECK(answer_of(kNothing, attempt) == EACCES);
    CHECK(answer_of(writing({place.folder + "/kept"}), attempt) == EACCES);
  };
  refused([&] { return opens(file, O_WRONLY); });
  refused([&] { return opens(file, O_RDWR | O_APPEND); });
  refused([&] { return opens(file, O_RDONLY | O_TRUNC); });
  refused([&] { return opens(fresh, O_RDONLY | O_CREAT); });
  refused([&] { return opens(place.folder, O_WRONLY | O_TMPFILE); });
  refused([&] { return opens("/proc/self/mem", O_RDWR); });
  refused([&] { return ::unlink(file.c_str()) == 0; });
  refused([&] { return ::mkdir(fresh.c_str(), 0700) == 0; });
  refused([&] { return ::rmdir((place.folder + "/other").c_str()) == 0; });
  refused([&] { return ::mkfifo(fresh.c_str(), 0600) == 0; });
  refused([&] { return ::symlink("/etc", fresh.c_str()) == 0; });
  refused([&] { return ::truncate(file.c_str(), 0) == 0; });
  refused([&] { return ::rename(file.c_str(), fresh.c_str()) == 0; });
  refused([&] { return ::link(file.c_str(), fresh.c_str()) == 0; });
  CHECK(answer_of(kNothing, [&] { return ::chmod(file.c_str(), 04755) == 0; }) == EACCES);
  CHECK(answer_of(kNothing, [&] { return ::setxattr(file.c_str(), "user.x", "", 0, 0) == 0; }) ==
        EACCES);
  CHECK(std::filesystem::file_size(file) == 4);
}

TEST_CASE("sandbox: what may be written is") {
  if (!has_both()) {
    return;
  }
  const Place place;
  const std::string kept = place.folder + "/kept";
  const SandboxRights rights = writing({kept, place.folder + "/other/file", "/no/such"});
  const auto works = [&](const std::function<bool()>& attempt) {
    CHECK(answer_of(rights, attempt) == 0);
  };
  works([&] { return opens(kept + "/new", O_RDWR | O_CREAT | O_EXCL); });
  works([&] { return ::rename((kept + "/new").c_str(), (kept + "/named").c_str()) == 0; });
  works([&] { return ::unlink((kept + "/named").c_str()) == 0; });
  works([&] { return opens(kept, O_RDWR | O_TMPFILE); });
  works([&] { return opens(place.folder + "/other/file", O_WRONLY | O_TRUNC); });
  works([&] { return opens("/dev/null", O_WRONLY); });
  CHECK(answer_of(rights, [&] { return ::unlink((place.folder + "/other/file").c_str()) == 0; }) ==
        EACCES);
}

TEST_CASE("sandbox: no program is started, nobody reached") {
  if (!has_both()) {
    return;
  }
  const Place place;
  CHECK(answer_of(kNothing, runs_true) == kEnded);
  CHECK(answer_of(all_but_programs(place.folder), runs_true) == kEnded);
  CHECK(answer_of(with(&SandboxRights::programs), runs_true) == 0);
  CHECK(answer_of(with(&SandboxRights::programs),
                  [&] { return opens(place.folder + "/other/file", O_RDWR); }) == EACCES);
  for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET}) {
    const auto attempt = [&] { return ::socket(family, SOCK_STREAM, 0) >= 0; };
    CHECK(answer_of(kNothing, attempt) == EPERM);
  }
  CHECK(answer_of(kNothing, connects) == kEnded);
  CHECK(answer_of(with(&SandboxRights::network),
                  [] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; }) == 0);
  CHECK(answer_of(with(&SandboxRights::network),
                  [] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }) == EPERM);
  int pair[2];
  CHECK(answer_of(kNothing, [&] { return ::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0; }) == 0);
  CHECK(answer_of(kNothing, [&] { return ::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0; }) ==
        EPERM);
}

TEST_CASE("sandbox: other processes are left alone") {
  if (!has_both()) {
    return;
  }
  const pid_t other = ::fork();
  if (other == 0) {
    for (;;) {
      ::pause();
    }
  }
  const std::string memory = "/proc/" + std::to_string(other) + "/mem";
  const auto seizes = [&] { return ::ptrace(PTRACE_SEIZE, other, nullptr, nullptr) == 0; };
  CHECK(answer_of(kNothing, [&] { return ::kill(other, SIGCONT) == 0; }) == EPERM);
  CHECK(answer_of(with(&SandboxRights::children), [&] { return ::kill(other, SIGCONT) == 0; }) ==
        (sandbox_support().landlock >= 6 ? EPERM : 0));
  CHECK(answer_of(kNothing, [] { return ::kill(::getpid(), 0) == 0; }) == 0);
  CHECK(answer_of(kNothing, [] { return ::raise(SIGURG) == 0; }) == 0);
  CHECK(answer_of(kNothing, [&] { return opens(memory, O_RDONLY); }) == EACCES);
  CHECK(answer_of(kNothing, seizes) == kEnded);
  CHECK(answer_of(with(&SandboxRights::processes), [&] { return opens(memory, O_RDONLY); }) == 0);
  CHECK(answer_of(with(&SandboxRights::processes), [&] { return opens(memory, O_RDWR); }) ==
        EACCES);
  CHECK(answer_of(with(&SandboxRights::processes),
                  [&] { return ::ptrace(PTRACE_ATTACH, other, nullptr, nullptr) == 0; }) == kEnded);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

TEST_CASE("sandbox: ways around") {
  if (!has_both()) {
    return;
  }
  char typed = '\n';
  CHECK(answer_of(kNothing, [&] { return ::ioctl(0, TIOCSTI, &typed) == 0; }) == EPERM);
  CHECK(answer_of(kNothing, [] { return ::syscall(425, 8, nullptr) >= 0; }) == ENOSYS);
  CHECK(answer_of(kNothing, [] { return ::syscall(SYS_unshare, 0x10000000) == 0; }) == EPERM);
  CHECK(answer_of(kNothing, [] { return ::syscall(9999) >= 0; }) == ENOSYS);
  CHECK(answer_of(kNothing, [] {
          return ::syscall(SYS_clone, 0x10000000 | SIGCHLD, nullptr, nullptr, nullptr, nullptr) >=
                 0;
        }) == EPERM);
#if defined(__x86_64__) && !defined(__ILP32__)
  const auto by_i386 = [] {
    long result = 20;  // getpid there, writev here
    asm volatile("int $0x80" : "+a"(result) : : "memory");
    return result > 0;
  };
  CHECK(answer_of(kNothing, by_i386) == kSignal + SIGSYS);
  CHECK(answer_of(kNothing, [] { return ::syscall(0x40000000 + SYS_getpid) > 0; }) ==
        kSignal + SIGSYS);
#endif
}

TEST_CASE("sandbox: it cannot be undone") {
  if (!has_both()) {
    return;
  }
  const Place place;
  const std::string file = place.folder + "/other/file";
  CHECK(answer_of(kNothing, [&] {
          SandboxRights more = all_but_programs(place.folder);
          more.programs = true;
          restrict_self(more);
          return opens(file, O_WRONLY);
        }) == EACCES);
}

}  // namespace
}  // namespace whocall::test
