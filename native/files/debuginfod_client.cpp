#include "files/debuginfod_client.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace whocall {
namespace {

constexpr auto kGlance = std::chrono::milliseconds(100);  // how often the watch is told

// The few functions that are needed, by their declarations in elfutils/debuginfod.h.
struct Library {
  decltype(&::debuginfod_begin) begin = nullptr;
  decltype(&::debuginfod_end) end = nullptr;
  decltype(&::debuginfod_find_debuginfo) find_debuginfo = nullptr;
  decltype(&::debuginfod_find_executable) find_executable = nullptr;
  decltype(&::debuginfod_set_progressfn) set_progressfn = nullptr;
  decltype(&::debuginfod_set_user_data) set_user_data = nullptr;
  decltype(&::debuginfod_get_user_data) get_user_data = nullptr;
  bool complete = false;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// It stays open: it brings libcurl, which keeps state of its own.
Library load() {
  Library found;
  void* library = ::dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
  found.complete = library != nullptr && find(library, "debuginfod_begin", found.begin) &&
                   find(library, "debuginfod_end", found.end) &&
                   find(library, "debuginfod_find_debuginfo", found.find_debuginfo) &&
                   find(library, "debuginfod_find_executable", found.find_executable) &&
                   find(library, "debuginfod_set_progressfn", found.set_progressfn) &&
                   find(library, "debuginfod_set_user_data", found.set_user_data) &&
                   find(library, "debuginfod_get_user_data", found.get_user_data);
  return found;
}

const Library& library() {
  static const Library kLibrary = load();
  return kLibrary;
}

// One question, as both threads see it. It lives as long as the one that asks.
struct Question {
  explicit Question(bool of_executable, std::string of_build_id)
      : executable(of_executable), build_id(std::move(of_build_id)) {}

  const bool executable;
  const std::string build_id;
  std::atomic<bool> unwanted = false;
  std::atomic<long> done = 0;  // bytes
  std::atomic<long> size = 0;
  std::mutex mutex;  // of what follows
  std::condition_variable answered;
  bool has_answer = false;
  ServersAnswer answer{};
};

int on_progress(debuginfod_client* client, long done, long size) {
  auto* question = static_cast<Question*>(library().get_user_data(client));
  question->done = done;
  question->size = size;
  return question->unwanted ? 1 : 0;
}

ServersAnswer find(Question& question) {
  debuginfod_client* client = library().begin();
  if (client == nullptr) {
    return {ENOMEM, {}};
  }
  library().set_user_data(client, &question);
  library().set_progressfn(client, &on_progress);
  const auto ask = question.executable ? library().find_executable : library().find_debuginfo;
  char* path = nullptr;
  // A length of 0 says that the id is in hex.
  const int descriptor =
      ask(client, reinterpret_cast<const unsigned char*>(question.build_id.c_str()), 0, &path);
  library().end(client);
  if (descriptor < 0) {
    return {-descriptor, {}};
  }
  ::close(descriptor);
  ServersAnswer found{0, path == nullptr ? "" : path};
  std::free(path);  // NOLINT(cppcoreguidelines-no-malloc): it comes from strdup
  return found;
}

void ask(const std::shared_ptr<Question>& question) {
  ServersAnswer answer = find(*question);
  const std::lock_guard lock(question->mutex);
  question->answer = std::move(answer);
  question->has_answer = true;
  question->answered.notify_all();
}

// Signals are for the threads of whoever asks: gdb's and Python's handlers expect to run in theirs.
void ask_apart(const std::shared_ptr<Question>& question) {
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(ask, question).detach();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void tell(const FetchWatch& watch, const Question& question, const std::string& what) {
  if (watch.check_interrupt) {
    watch.check_interrupt();
  }
  const long done = question.done;
  const long size = question.size;
  if (watch.progress && size > 0 && done >= 0) {
    watch.progress(what, static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(size));
  }
}

}  // namespace

bool can_ask_servers() { return library().complete; }

ServersAnswer ask_servers(bool executable, const std::string& build_id, const std::string& what,
                          const FetchWatch& watch) {
  const auto question = std::make_shared<Question>(executable, build_id);
  ask_apart(question);
  try {
    std::unique_lock lock(question->mutex, std::defer_lock);
    for (bool is_over = false; !is_over; lock.unlock()) {
      tell(watch, *question, what);
      lock.lock();
      is_over = question->answered.wait_for(lock, kGlance, [&] { return question->has_answer; });
    }
    return question->answer;
  } catch (...) {
    question->unwanted = true;
    throw;
  }
}

}  // namespace whocall
