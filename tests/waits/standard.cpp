// What C++'s standard library lets threads wait for: told as tests/waits/locks.c does.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace {

std::mutex first, second;
std::recursive_mutex again;
std::shared_mutex shared;
std::condition_variable changed;
std::promise<int> promised;

void begin(const char *name) { fprintf(stderr, "thread %s %ld\n", name, syscall(SYS_gettid)); }
void waits(const char *name, const char *kind, const void *object, const char *who) {
  fprintf(stderr, "wait %s %s %#lx %s\n", name, kind,
          static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(object)), who);
}

bool all_sleep(const long *ids, int count) {
  for (int i = 0; i < count; ++i) {
    char path[64], text[600] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", ids[i]);
    FILE *file = fopen(path, "r");
    if (file == nullptr) return false;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *end = strrchr(text, ')');
    if (end == nullptr || end[2] != 'S') return false;
  }
  return true;
}

}  // namespace

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  static long ids[8];
  static std::atomic<int> started;
  const auto run = [](auto work) {
    std::thread([work] {
      ids[started++] = syscall(SYS_gettid);
      work();
    }).detach();
  };
  static std::atomic<int> held;
  const auto ring = [](const char *name, std::mutex &own, std::mutex &other, const char *who) {
    begin(name);
    const std::scoped_lock lock(own);
    ++held;
    while (held != 2) std::this_thread::yield();
    waits(name, "mutex", &other, who);
    const std::scoped_lock both(other);
  };
  run([ring] { ring("a", first, second, "b"); });
  run([ring] { ring("b", second, first, "a"); });
  fprintf(stderr, "deadlock a b\n");
  static std::atomic<bool> written;
  run([] {
    begin("c");
    const std::unique_lock lock(shared);
    const std::unique_lock more(again);
    const std::unique_lock still(again);
    written = true;
    waits("c", "sleep", nullptr, "-");
    std::this_thread::sleep_for(std::chrono::hours(1));
  });
  while (!written) std::this_thread::yield();
  run([] {
    begin("d");
    waits("d", "rwlock", &shared, "c");
    const std::shared_lock lock(shared);
  });
  run([] {
    begin("e");
    waits("e", "mutex", &again, "c");
    const std::unique_lock lock(again);
  });
  run([] {
    begin("f");
    waits("f", "future", nullptr, "-");
    promised.get_future().wait();
  });
  run([] {
    begin("g");
    std::mutex own;
    std::unique_lock lock(own);
    waits("g", "condition", nullptr, "-");
    changed.wait(lock, [] { return false; });
  });
  while (started != 7) std::this_thread::yield();
  for (int quiet = 0; quiet < 10; ++quiet) {
    quiet = all_sleep(ids, 7) ? quiet : -1;
    usleep(10000);
  }
  fprintf(stderr, "done\n");
  if (getenv("WHOCALL_CORE") != nullptr) std::abort();
  for (;;) pause();
}
