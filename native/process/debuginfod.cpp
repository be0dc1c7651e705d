#include "process/debuginfod.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "base/error.h"

namespace whocall {
namespace {

constexpr auto kPatience = std::chrono::seconds(3);  // with a server that fails, once

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

// One fetch, as libdebuginfod's callback sees it.
struct Fetch {
  const FetchWatch* watch = nullptr;
  std::string what;
  std::exception_ptr stopped;  // what the watch threw: it must not pass through C
};

int on_progress(debuginfod_client* client, long done, long size) {
  auto* fetch = static_cast<Fetch*>(library().get_user_data(client));
  try {
    if (fetch->watch->check_interrupt) {
      fetch->watch->check_interrupt();
    }
    if (fetch->watch->progress && size > 0 && done >= 0) {
      fetch->watch->progress(fetch->what, static_cast<std::uint64_t>(done),
                             static_cast<std::uint64_t>(size));
    }
    return 0;
  } catch (...) {
    fetch->stopped = std::current_exception();
    return 1;
  }
}

std::string servers() {
  const char* urls = std::getenv(DEBUGINFOD_URLS_ENV_VAR);
  return urls == nullptr ? "" : urls;
}

// `error` is an errno.
std::string sentence(const std::string& what, const std::string& build_id, int error) {
  switch (error) {
    case ENOENT:
      return "debuginfod has no " + what + " (build id " + build_id + "; asked: " + servers() +
             ").";
    case ETIME:
    case ETIMEDOUT:
      return "The debuginfod servers (" + servers() + ") did not answer in time when asked for " +
             what + ": mend DEBUGINFOD_URLS, or allow more seconds by DEBUGINFOD_TIMEOUT.";
    default:
      return "The debuginfod servers (" + servers() + ") did not give " + what + ": " +
             std::strerror(error) +
             ". Mend DEBUGINFOD_URLS or the network, or do without debuginfod.";
  }
}

FetchedFile open_fetched(const std::string& path, const std::string& build_id) {
  try {
    auto file = ElfFile::open(path);
    if (file->build_id() == build_id) {
      return {std::move(file), {}};
    }
    return {nullptr, "debuginfod sent a file with " +
                         (file->build_id().empty() ? std::string("no build id")
                                                   : "build id " + file->build_id()) +
                         " for build id " + build_id + ": it is not used. Remove " + path +
                         " and ask another server."};
  } catch (const Error&) {
    return {nullptr, "What debuginfod sent for build id " + build_id +
                         " is not an ELF file: remove " + path + " and ask another server."};
  }
}

class Client {
 public:
  explicit Client(Fetch& fetch) : client_(library().begin()) {
    if (client_ != nullptr) {
      library().set_user_data(client_, &fetch);
      library().set_progressfn(client_, &on_progress);
    }
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    if (client_ != nullptr) {
      library().end(client_);
    }
  }

  // 0, and then the path of the file in the cache; or an errno.
  int find(bool executable, const std::string& build_id, std::string& path) {
    if (client_ == nullptr) {
      return ENOMEM;
    }
    const auto ask = executable ? library().find_executable : library().find_debuginfo;
    char* found = nullptr;
    // A length of 0 says that the id is in hex.
    const int descriptor =
        ask(client_, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &found);
    if (descriptor < 0) {
      return -descriptor;
    }
    ::close(descriptor);
    path = found == nullptr ? "" : found;
    std::free(found);  // NOLINT(cppcoreguidelines-no-malloc): it comes from strdup
    return 0;
  }

 private:
  debuginfod_client* client_;
};

}  // namespace

FetchedFile Debuginfod::debug_info(const std::string& build_id, const std::string& name) {
  return ask(Kind::debug_info, build_id, name);
}

FetchedFile Debuginfod::executable(const std::string& build_id, const std::string& name) {
  return ask(Kind::executable, build_id, name);
}

FetchedFile Debuginfod::ask(Kind kind, const std::string& build_id, const std::string& name) {
  const auto known = answers_.find({kind, build_id});
  if (known != answers_.end()) {
    return known->second;
  }
  FetchedFile answer = fetch(kind, build_id, name);
  answers_.emplace(std::pair(kind, build_id), answer);
  return answer;
}

FetchedFile Debuginfod::fetch(Kind kind, const std::string& build_id, const std::string& name) {
  if (servers().empty()) {
    return {nullptr,
            "debuginfod knows no server: name one in the environment variable DEBUGINFOD_URLS (in "
            "gdb: set debuginfod urls URL)."};
  }
  if (!library().complete) {
    return {nullptr, std::string(DEBUGINFOD_SONAME) +
                         " is needed to ask debuginfod and cannot be loaded: install it with "
                         "`apt-get install libdebuginfod1` (or your system's like)."};
  }
  if (!given_up_.empty()) {
    return {nullptr, given_up_};
  }
  const bool executable = kind == Kind::executable;
  Fetch fetch{&watch_, (executable ? "executable for " : "separate debug info for ") + name, {}};
  std::string path;
  const auto begin = std::chrono::steady_clock::now();
  const int error = Client(fetch).find(executable, build_id, path);
  if (fetch.stopped != nullptr) {
    std::rethrow_exception(fetch.stopped);
  }
  if (error == 0) {
    return open_fetched(path, build_id);
  }
  std::string remark = sentence(fetch.what, build_id, error);
  if (error != ENOENT && std::chrono::steady_clock::now() - begin > kPatience) {
    given_up_ = remark + " They are not asked again for other files.";
  }
  return {nullptr, std::move(remark)};
}

}  // namespace whocall
