#include "base/sandbox.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/landlock.h"
#include "base/refused_calls.h"

namespace whocall {
namespace {

// For SIGSYS, which a refused call raises. Whoever has taken over the process may remove this, but
// not the filter: the signal ends the process then.
void end_with_a_sentence(int /*signal*/) {
  constexpr std::string_view kSentence =
      "whocall: the sandbox ended this, as it was about to start a program, to reach out of the "
      "process, or to trace another, which it never does by itself: one of the files that it reads "
      "seems to be made to misuse it\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  ::_exit(1);
}

void catch_refused_calls() {
  struct sigaction action {};
  action.sa_handler = end_with_a_sentence;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGSYS, &action, nullptr);
}

}  // namespace

void restrict_self(const SandboxRights& rights) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return;
  }
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);  // it would hold what was read, and be one more to look at
  // Landlock refuses to read what any process outside has, so it is not for who has to.
  if (!rights.processes) {
    restrict_by_landlock({rights.writable, rights.network, rights.programs});
  }
  if (refused_calls(rights).install() && !rights.programs) {
    catch_refused_calls();
  }
}

bool end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  return ::getppid() == parent;
}

SandboxSupport sandbox_support() {
  // The filter at this address cannot be read: a kernel that has them says so.
  const bool filters = SyscallFilter::is_known() &&
                       ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0) != 0 &&
                       errno == EFAULT;
  return {landlock_version(), filters};
}

}  // namespace whocall
