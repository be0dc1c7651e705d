#include "files/debuginfod.h"

#include <elfutils/debuginfod.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace whocall {
namespace {

constexpr auto kPatience = std::chrono::seconds(3);  // with a server that fails, once

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
             what + ": correct DEBUGINFOD_URLS, or allow more seconds by DEBUGINFOD_TIMEOUT.";
    default:
      return "The debuginfod servers (" + servers() + ") did not give " + what + ": " +
             std::strerror(error) +
             ". Correct DEBUGINFOD_URLS or the network, or do without debuginfod.";
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
  if (!can_ask_servers()) {
    return {nullptr, std::string(DEBUGINFOD_SONAME) +
                         " is needed to ask debuginfod and cannot be loaded: install it with "
                         "`apt-get install libdebuginfod1` (or your system's like)."};
  }
  if (!given_up_.empty()) {
    return {nullptr, given_up_};
  }
  const bool executable = kind == Kind::executable;
  const std::string what = (executable ? "executable for " : "separate debug info for ") + name;
  const auto begin = std::chrono::steady_clock::now();
  const auto [error, path] = ask_servers(executable, build_id, what, watch_);
  if (error == 0) {
    return open_fetched(path, build_id);
  }
  std::string remark = sentence(what, build_id, error);
  if (error != ENOENT && std::chrono::steady_clock::now() - begin > kPatience) {
    given_up_ = remark + " They are not asked again for other files.";
  }
  return {nullptr, std::move(remark)};
}

}  // namespace whocall
