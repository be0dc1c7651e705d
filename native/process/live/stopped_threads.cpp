#include "process/live/stopped_threads.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "base/byte_view.h"
#include "base/error.h"
#include "process/proc_files.h"

namespace whocall {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kStopLimit = std::chrono::seconds(3);
constexpr auto kPollInterval = std::chrono::microseconds(200);
constexpr std::size_t kRegistersLimit = 1024;  // bytes; the largest NT_PRSTATUS regset has 392

// ptrace's address argument, which for some requests is a number.
void* as_pointer(std::uintptr_t number) { return reinterpret_cast<void*>(number); }

[[noreturn]] void fail_to_attach(std::int64_t pid, int error) {
  const std::string process = "process " + std::to_string(pid);
  if (error == ESRCH) {
    throw Error(process, "does not exist", "Give the id of a running process");
  }
  const auto status = read_proc_file("/proc/" + std::to_string(pid) + "/status").value_or("");
  const auto tracer = status_field(status, "TracerPid");
  if (!tracer.empty() && tracer != "0") {
    throw Error(process, "is already traced by process " + tracer,
                "Detach that debugger first, or use whocall inside it");
  }
  std::string remedy = "Run as the process's user or as root";
  const auto scope = read_proc_file("/proc/sys/kernel/yama/ptrace_scope").value_or("0");
  if (!scope.starts_with('0')) {
    remedy = "Run as root, or allow it with `sysctl kernel.yama.ptrace_scope=0` (it is " +
             scope.substr(0, 1) + " now)";
  }
  throw Error(process, std::string("may not be traced: ") + std::strerror(error), remedy);
}

struct Attached {
  StoppedThread thread;
  int signal = 0;  // that was about to be delivered when it stopped; handed on when it goes on
};

// Everything here runs in the tracer's own thread.
class Session {
 public:
  Session(std::int64_t pid, const Architecture& arch) : pid_(pid), arch_(arch) {}

  void attach() {
    const auto deadline = Clock::now() + kStopLimit;
    // A thread that was not yet stopped may have made another one: look until nothing is new.
    while (seize_new_threads()) {
      wait_for_stops(deadline);
      if (Clock::now() >= deadline) {
        break;
      }
    }
    if (threads_.empty()) {
      fail_to_attach(pid_, ESRCH);
    }
    std::ranges::sort(threads_, {}, [](const Attached& a) { return a.thread.lwp; });
    for (Attached& attached : threads_) {
      if (attached.thread.stopped) {
        read_registers(attached.thread);
      }
    }
  }

  void detach() {
    for (const Attached& attached : threads_) {
      if (attached.thread.stopped) {
        ::ptrace(PTRACE_DETACH, static_cast<pid_t>(attached.thread.lwp), nullptr,
                 as_pointer(static_cast<std::uintptr_t>(attached.signal)));
      }
    }
  }

  [[nodiscard]] std::vector<StoppedThread> threads() const {
    std::vector<StoppedThread> result;
    for (const Attached& attached : threads_) {
      result.push_back(attached.thread);
    }
    return result;
  }

 private:
  bool seize_new_threads() {
    bool any = false;
    for (const std::int64_t lwp : thread_ids(pid_)) {
      if (!seen_.insert(lwp).second || is_dead(lwp)) {
        continue;
      }
      const auto id = static_cast<pid_t>(lwp);
      if (::ptrace(PTRACE_SEIZE, id, nullptr, nullptr) != 0) {
        const int error = errno;
        if (error == ESRCH || is_dead(lwp)) {
          continue;  // it ended while we looked
        }
        fail_to_attach(pid_, error);
      }
      ::ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
      Attached attached;
      attached.thread.lwp = lwp;
      threads_.push_back(std::move(attached));
      any = true;
    }
    return any;
  }

  // A main thread that has ended stays as a zombie while others run; it cannot be traced.
  [[nodiscard]] bool is_dead(std::int64_t lwp) const {
    const auto status = read_proc_file("/proc/" + std::to_string(pid_) + "/task/" +
                                       std::to_string(lwp) + "/status");
    const auto state = status_field(status.value_or(""), "State");
    return state.empty() || state.starts_with('Z') || state.starts_with('X');
  }

  void wait_for_stops(Clock::time_point deadline) {
    while (true) {
      bool waiting = false;
      for (auto attached = threads_.begin(); attached != threads_.end();) {
        const bool gone = !attached->thread.stopped && poll(*attached) == Poll::gone;
        waiting = waiting || (!gone && !attached->thread.stopped);
        attached = gone ? threads_.erase(attached) : attached + 1;
      }
      if (!waiting || Clock::now() >= deadline) {
        return;
      }
      std::this_thread::sleep_for(kPollInterval);
    }
  }

  enum class Poll { running, stopped, gone };

  Poll poll(Attached& attached) const {
    int status = 0;
    const pid_t id = ::waitpid(static_cast<pid_t>(attached.thread.lwp), &status, __WALL | WNOHANG);
    if (id < 0) {
      return errno == ECHILD ? Poll::gone : Poll::running;
    }
    if (id == 0) {
      return Poll::running;
    }
    if (!WIFSTOPPED(status)) {
      return Poll::gone;
    }
    const bool is_event = status >> 16U != 0;  // our interrupt, or a stop of the whole process
    attached.signal = is_event ? 0 : WSTOPSIG(status);
    attached.thread.stopped = true;
    return Poll::stopped;
  }

  void read_registers(StoppedThread& thread) const {
    const SignatureNote& signatures = arch_.os.signatures;
    thread.registers = regset(thread.lwp, NT_PRSTATUS);
    if (signatures.type != 0) {
      const std::vector<std::byte> masks = regset(thread.lwp, signatures.type);
      thread.signature_bits =
          ByteView(masks, arch_.abi.endian).read<std::uint64_t>(signatures.offset).value_or(0);
    }
  }

  // Empty when the kernel has none of that type, or the machine cannot do what it tells of.
  static std::vector<std::byte> regset(std::int64_t lwp, std::uint32_t type) {
    std::vector<std::byte> bytes(kRegistersLimit);
    iovec block{bytes.data(), bytes.size()};
    const bool ok =
        ::ptrace(PTRACE_GETREGSET, static_cast<pid_t>(lwp), as_pointer(type), &block) == 0;
    bytes.resize(ok ? block.iov_len : 0);
    return bytes;
  }

  std::int64_t pid_;
  const Architecture& arch_;
  std::vector<Attached> threads_;
  std::set<std::int64_t> seen_;
};

// Signals of the program that we are part of are not this thread's business.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

struct StoppedThreads::Tracer {
  std::promise<std::vector<StoppedThread>> attached;
  std::promise<void> release;
  std::vector<StoppedThread> threads;
  std::thread worker;

  void run(std::int64_t pid, const Architecture& arch) {
    try {
      Session session(pid, arch);
      session.attach();
      attached.set_value(session.threads());
      release.get_future().wait();
      session.detach();
    } catch (...) {
      attached.set_exception(std::current_exception());
    }
  }
};

StoppedThreads::StoppedThreads(std::int64_t pid, const Architecture& arch)
    : tracer_(std::make_unique<Tracer>()) {
  auto result = tracer_->attached.get_future();
  {
    const BlockedSignals blocked;  // inherited by the new thread
    tracer_->worker = std::thread([this, pid, &arch] { tracer_->run(pid, arch); });
  }
  try {
    tracer_->threads = result.get();
  } catch (...) {
    tracer_->worker.join();
    throw;
  }
}

StoppedThreads::~StoppedThreads() {
  tracer_->release.set_value();
  tracer_->worker.join();
}

const std::vector<StoppedThread>& StoppedThreads::threads() const { return tracer_->threads; }

}  // namespace whocall
