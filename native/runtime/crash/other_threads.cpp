#include "runtime/crash/other_threads.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ctime>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "runtime/machine.h"
#include "runtime/text.h"

namespace whocall::runtime {
namespace {

constexpr int kMoments = 2000;                // that a thread is waited for
constexpr long kMoment = 500'000;             // nanoseconds
constexpr std::size_t kDirectoryRoom = 2048;  // bytes

// Real-time signals near the end of their range are rarely anyone's.
int question() { return SIGRTMAX - 3; }

enum State : pid_t { idle = 0, answering = -1, answered = -2 };  // else: the thread asked

std::atomic<pid_t> state{idle};
Answer answer;

void give_answer(int /*signal*/, siginfo_t* /*info*/, void* context) {
  const int kept = errno;
  auto self = static_cast<pid_t>(syscall(SYS_gettid));
  const pid_t thread = self;
  if (state.compare_exchange_strong(self, answering)) {
    answer.place = {};
    answer.place.thread = thread;
    answer.place.context = static_cast<const ucontext_t*>(context);
    answer.frames.walk(CarefulWalk(point_of(*answer.place.context), true));
    state.store(answered);
    // Its registers are read while it stays here.
    for (int i = 0; i < kMoments && state.load() == answered; ++i) {
      wait_a_moment();
    }
  }
  errno = kept;
}

bool parse(const char* text, pid_t& number) {
  number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = number * 10 + (*text - '0');
  }
  return *text == '\0' && number != 0;
}

}  // namespace

int listen_for_questions() {
  struct sigaction action {};
  action.sa_sigaction = give_answer;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigfillset(&action.sa_mask);
  return sigaction(question(), &action, nullptr);
}

const Answer* ask(pid_t process, pid_t thread) {
  state.store(thread);
  if (syscall(SYS_tgkill, process, thread, question()) != 0) {
    state.store(idle);
    return nullptr;
  }
  for (int i = 0; i < kMoments; ++i) {
    if (state.load() == answered) {
      return &answer;
    }
    wait_a_moment();
  }
  pid_t expected = thread;
  if (state.compare_exchange_strong(expected, idle)) {
    return nullptr;
  }
  wait_a_moment();
  return state.load() == answered ? &answer : nullptr;
}

void stop_asking() { state.store(idle); }

const char* thread_name(pid_t thread) {
  static char name[17];
  char path[64] = "/proc/self/task/";
  char digits[12];
  std::size_t count = 0;
  for (pid_t number = thread; number > 0; number /= 10) {
    digits[count++] = static_cast<char>('0' + number % 10);
  }
  std::size_t size = std::strlen(path);
  while (count != 0) {
    path[size++] = digits[--count];
  }
  std::memcpy(path + size, "/comm", sizeof "/comm");
  name[0] = '\0';
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    const ssize_t read_bytes = read(file, name, sizeof name - 1);
    close(file);
    const std::size_t length = read_bytes > 0 ? static_cast<std::size_t>(read_bytes) : 0;
    name[length != 0 && name[length - 1] == '\n' ? length - 1 : length] = '\0';
  }
  return name;
}

void for_each_thread(void (*visit)(pid_t thread, void* data), void* data) {
  struct Entry {  // struct linux_dirent64
    std::uint64_t inode;
    std::int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return;
  }
  alignas(8) char room[kDirectoryRoom];
  for (;;) {
    const long size = syscall(SYS_getdents64, folder, room, sizeof room);
    if (size <= 0) {
      break;
    }
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const Entry*>(room + at);
      pid_t thread = 0;
      if (parse(entry->name, thread)) {
        visit(thread, data);
      }
      at += entry->length;
    }
  }
  close(folder);
}

void wait_a_moment() {
  const timespec moment{0, kMoment};
  nanosleep(&moment, nullptr);
}

}  // namespace whocall::runtime
