#include "runtime/crash/other_threads.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ctime>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "runtime/crash/handler_stack.h"
#include "runtime/crash/held_threads.h"
#include "runtime/lines_of_file.h"
#include "runtime/machine.h"
#include "runtime/signal_setting.h"

namespace whocall::runtime {
namespace {

constexpr int kMoments = 2000;                // that a thread is waited for, in the beginning
constexpr int kFewMoments = 20;               // the same, when many have not answered
constexpr int kMomentsOfAll = 10'000;         // until then
constexpr int kMomentsToLeave = 20;           // that one is waited for which was just let go
constexpr int kMomentsOfLeaving = 400;        // all of them together
constexpr long kMoment = 500'000;             // nanoseconds
constexpr std::size_t kDirectoryRoom = 2048;  // bytes

int question() { return whocall_signal_to_threads(); }

enum State : pid_t { idle = 0, answering = -1, answered = -2 };  // else: the thread asked

std::atomic<pid_t> state{idle};
Answer answer;
int moments_left = 0;
int moments_of_leaving = 0;

void answer_if_asked(void* context) {
  auto self = static_cast<pid_t>(syscall(SYS_gettid));
  if (room_of_handler() >= kReportRoom && state.compare_exchange_strong(self, answering)) {
    const auto& place = *static_cast<const ucontext_t*>(context);
    answer.registers = Registers(place);
    answer.frames.walk(CarefulWalk(point_of(place), true));
    state.store(answered);
  }
}

void give_answer(int /*signal*/, siginfo_t* /*info*/, void* context) {
  const int kept = errno;
  answer_if_asked(context);
  stay(static_cast<pid_t>(syscall(SYS_gettid)), answer_if_asked, context);
  errno = kept;
}

// "/proc/self/task/4711/comm", in static memory until the next one.
const char* file_of(pid_t thread, const char* name) {
  constexpr char kTasks[] = "/proc/self/task/";
  static char path[64];
  char digits[12];
  std::size_t count = 0;
  for (pid_t number = thread; number > 0; number /= 10) {
    digits[count++] = static_cast<char>('0' + number % 10);
  }
  std::size_t size = sizeof kTasks - 1;
  std::memcpy(path, kTasks, size);
  while (count != 0) {
    path[size++] = digits[--count];
  }
  std::memcpy(path + size, name, std::strlen(name) + 1);
  return path;
}

unsigned value_of(char digit) {
  return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

// Whole programs block all signals in all their threads but one: nobody has to wait for those.
bool blocks_question(pid_t thread) {
  constexpr char kBlocked[] = "SigBlk:\t";
  constexpr std::size_t kName = sizeof kBlocked - 1;
  LinesOfFile lines(file_of(thread, "/status"));
  while (const char* const line = lines.next()) {
    if (std::strncmp(line, kBlocked, kName) == 0) {
      const auto bit = static_cast<unsigned>(question() - 1);
      const std::size_t digits = std::strlen(line + kName);
      return bit / 4 < digits &&
             (value_of(line[kName + digits - 1 - bit / 4]) >> bit % 4 & 1U) != 0;
    }
  }
  return false;
}

// One that was held for a report before this one blocks all until it is out of the handler.
bool refuses_question(pid_t thread) {
  bool refuses = blocks_question(thread);
  for (int i = 0; refuses && i < kMomentsToLeave && moments_of_leaving > 0; ++i) {
    --moments_of_leaving;
    wait_a_moment();
    refuses = blocks_question(thread);
  }
  return refuses;
}

// Whether the thread, or one before it, comes to its end with the answer.
bool is_answered() {
  const int most = moments_left > 0 ? kMoments : kFewMoments;
  for (int i = 0; i < most && state.load() != answered; ++i) {
    --moments_left;
    wait_a_moment();
  }
  return state.load() == answered;
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

void begin_asking() {
  moments_left = kMomentsOfAll;
  moments_of_leaving = was_anyone_held() ? kMomentsOfLeaving : 0;
  begin_holding();
}

const Answer* ask(pid_t process, pid_t thread) {
  // One that began to answer late still writes there: nobody else may.
  if (state.load() == answering && !is_answered()) {
    return nullptr;
  }
  state.store(thread);
  const bool is_asked = ring(thread) || (!refuses_question(thread) &&
                                         syscall(SYS_tgkill, process, thread, question()) == 0);
  if (is_asked && is_answered()) {
    return &answer;
  }
  pid_t asked = thread;
  state.compare_exchange_strong(asked, idle);
  return asked == answered ? &answer : nullptr;
}

const char* thread_name(pid_t thread) {
  static char name[17];
  name[0] = '\0';
  const int file = open(file_of(thread, "/comm"), O_RDONLY | O_CLOEXEC);
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
