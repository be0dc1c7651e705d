#include "waits/find_waits.h"

#include <algorithm>
#include <array>

#include "base/interrupt.h"
#include "base/long_work.h"
#include "process/local_process.h"
#include "process/proc_files.h"
#include "waits/futex_waits.h"
#include "waits/lock_calls.h"

namespace whocall {
namespace {

// How long a call waits, where it may: an argument that is a number of milliseconds, less than 0
// for ever; or the address of a time, 0 for ever.
enum class Limit : std::uint8_t { none, always, milliseconds, time };

struct WaitingCall {
  std::string_view name;
  WaitKind kind;
  Limit limit = Limit::none;
  std::uint8_t at = 0;  // which argument
};
constexpr std::array<WaitingCall, 58> kWaitingCalls = {{
    {"poll", WaitKind::poll, Limit::milliseconds, 2},
    {"ppoll", WaitKind::poll, Limit::time, 2},
    {"ppoll_time64", WaitKind::poll, Limit::time, 2},
    {"select", WaitKind::poll, Limit::time, 4},
    {"_newselect", WaitKind::poll, Limit::time, 4},
    {"pselect6", WaitKind::poll, Limit::time, 4},
    {"pselect6_time64", WaitKind::poll, Limit::time, 4},
    {"epoll_wait", WaitKind::poll, Limit::milliseconds, 3},
    {"epoll_pwait", WaitKind::poll, Limit::milliseconds, 3},
    {"epoll_pwait2", WaitKind::poll, Limit::time, 3},
    {"nanosleep", WaitKind::sleep, Limit::always},
    {"clock_nanosleep", WaitKind::sleep, Limit::always},
    {"clock_nanosleep_time64", WaitKind::sleep, Limit::always},
    {"wait4", WaitKind::child},
    {"waitpid", WaitKind::child},
    {"waitid", WaitKind::child},
    {"vfork", WaitKind::child},
    {"pause", WaitKind::signal},
    {"rt_sigsuspend", WaitKind::signal},
    {"sigsuspend", WaitKind::signal},
    {"rt_sigtimedwait", WaitKind::signal, Limit::time, 2},
    {"rt_sigtimedwait_time64", WaitKind::signal, Limit::time, 2},
    {"msgrcv", WaitKind::message},
    {"msgsnd", WaitKind::message},
    {"semop", WaitKind::message},
    {"semtimedop", WaitKind::message, Limit::time, 3},
    {"semtimedop_time64", WaitKind::message, Limit::time, 3},
    {"ipc", WaitKind::message},
    {"mq_timedreceive", WaitKind::message, Limit::time, 4},
    {"mq_timedsend", WaitKind::message, Limit::time, 4},
    {"mq_timedreceive_time64", WaitKind::message, Limit::time, 4},
    {"mq_timedsend_time64", WaitKind::message, Limit::time, 4},
    {"read", WaitKind::descriptor},
    {"readv", WaitKind::descriptor},
    {"pread64", WaitKind::descriptor},
    {"preadv", WaitKind::descriptor},
    {"write", WaitKind::descriptor},
    {"writev", WaitKind::descriptor},
    {"pwrite64", WaitKind::descriptor},
    {"pwritev", WaitKind::descriptor},
    {"ioctl", WaitKind::descriptor},
    {"fsync", WaitKind::descriptor},
    {"fdatasync", WaitKind::descriptor},
    {"splice", WaitKind::descriptor},
    {"flock", WaitKind::file},
    {"fcntl", WaitKind::file},
    {"fcntl64", WaitKind::file},
    {"accept", WaitKind::socket},
    {"accept4", WaitKind::socket},
    {"connect", WaitKind::socket},
    {"recv", WaitKind::socket},
    {"recvfrom", WaitKind::socket},
    {"recvmsg", WaitKind::socket},
    {"recvmmsg", WaitKind::socket, Limit::time, 4},
    {"send", WaitKind::socket},
    {"sendto", WaitKind::socket},
    {"sendmsg", WaitKind::socket},
    {"sendmmsg", WaitKind::socket},
}};

// By where the link of a descriptor leads.
struct NamedDescriptor {
  std::string_view begin;
  WaitKind kind;
};
constexpr std::array<NamedDescriptor, 8> kNamedDescriptors = {{
    {"socket:", WaitKind::socket},
    {"pipe:", WaitKind::pipe},
    {"anon_inode:", WaitKind::event},
    {"/dev/pts/", WaitKind::terminal},
    {"/dev/tty", WaitKind::terminal},
    {"/dev/console", WaitKind::terminal},
    {"/dev/ptmx", WaitKind::terminal},
    {"/", WaitKind::file},
}};

bool is_limited(const WaitingCall& row, const KernelCall& call) {
  const auto value = call.arguments[row.at];
  switch (row.limit) {
    case Limit::none:
      return false;
    case Limit::always:
      return true;
    case Limit::milliseconds:
      return !value || static_cast<std::int32_t>(*value) >= 0;
    case Limit::time:
      return !value || *value != 0;
  }
  return false;
}

class WaitFinder {
 public:
  WaitFinder(Walker& walker, Symbolizer& symbolizer)
      : process_(walker.process()),
        pid_(local_pid(process_)),
        calls_(process_),
        ids_(process_),
        futexes_(walker, symbolizer, ids_),
        callers_(walker, symbolizer) {}

  Waiting find(std::size_t index) {
    const Thread& thread = process_.threads[index];
    Waiting waiting;
    waiting.thread = index;
    waiting.call = calls_.of(thread);
    if (!waiting.call) {
      const auto pc = thread.registers.get(process_.arch->registers.pc);
      waiting.function = pc ? calls_.vsyscall_at(*pc) : std::string_view();
      return waiting;
    }
    if (waiting.call->name == "restart_syscall") {
      name_restarted(*waiting.call, thread);
    }
    const KernelCall& call = *waiting.call;
    if (call.state == KernelCall::State::returned) {
      return waiting;
    }
    if (call.state == KernelCall::State::unclear || call.name.empty()) {
      waiting.kind = WaitKind::unknown;
    } else if (call.name == "futex" || call.name == "futex_time64") {
      futexes_.tell(waiting);
    } else {
      tell_call(waiting);
    }
    return waiting;
  }

 private:
  // Folklore. Situation: the kernel goes on with a call that was interrupted, and the code before
  // the call is made for any number. Example: a sleep that was looked at twice; since glibc 2.41
  // all calls that pthread_cancel() ends are made in one place. Remedy: only four calls go on so,
  // and the function that made it tells which.
  void name_restarted(KernelCall& call, const Thread& thread) {
    constexpr std::array<std::string_view, 3> kRestarted = {"nanosleep", "clock_nanosleep", "poll"};
    const WaitingFunction function = callers_.find(thread);
    if (function.call != LockCall::none) {
      calls_.name_restarted(call, "futex");
    } else if (std::ranges::find(kRestarted, function.name) != kRestarted.end()) {
      calls_.name_restarted(call, function.name);
    }
  }

  void tell_call(Waiting& waiting) const {
    const KernelCall& call = *waiting.call;
    const auto* const row = std::ranges::find_if(
        kWaitingCalls, [&](const WaitingCall& each) { return each.name == call.name; });
    waiting.kind = row == kWaitingCalls.end() ? WaitKind::call : row->kind;
    waiting.timed = row != kWaitingCalls.end() && is_limited(*row, call);
    const auto shape = system_call_shape(call.name);
    if (shape && shape->starts_with('d') && call.arguments[0]) {
      waiting.descriptor = static_cast<std::int32_t>(*call.arguments[0]);
      tell_descriptor(waiting);
    }
  }

  void tell_descriptor(Waiting& waiting) const {
    if (pid_ == 0 || *waiting.descriptor < 0) {
      return;
    }
    waiting.descriptor_name =
        proc_link("/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(*waiting.descriptor));
    if (waiting.kind != WaitKind::descriptor) {
      return;
    }
    const auto* const row =
        std::ranges::find_if(kNamedDescriptors, [&](const NamedDescriptor& each) {
          return waiting.descriptor_name.starts_with(each.begin);
        });
    waiting.kind = row == kNamedDescriptors.end() ? WaitKind::descriptor : row->kind;
  }

  const ProcessImage& process_;
  std::int64_t pid_;  // 0 where no /proc tells of it
  KernelCalls calls_;
  ThreadIds ids_;
  FutexWaits futexes_;
  LockCalls callers_;
};

}  // namespace

std::vector<Waiting> find_waits(Walker& walker, Symbolizer& symbolizer) {
  const ProcessImage& process = walker.process();
  constexpr std::string_view kProgram = "the program";
  LongWork work("Finding what threads wait for in",
                process.exe_path.empty() ? kProgram : std::string_view(process.exe_path));
  WaitFinder finder(walker, symbolizer);
  std::vector<Waiting> waits;
  for (std::size_t index = 0; index < process.threads.size(); ++index) {
    check_interrupt_at(index, 64);
    work.reached(index, process.threads.size());
    waits.push_back(finder.find(index));
  }
  return waits;
}

}  // namespace whocall
