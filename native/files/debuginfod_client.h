// One question to debuginfod servers, through elfutils' libdebuginfod, which is opened when needed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace whocall {

// Whoever looks on while a file is fetched. Each may be empty, and each may throw: then the fetch
// ends at once and the exception goes through.
struct FetchWatch {
  std::function<void()> check_interrupt;  // called at least once a second
  // `what` is "separate debug info for /bin/prog"; both numbers are bytes, and called only when
  // they are known.
  std::function<void(const std::string& what, std::uint64_t done, std::uint64_t size)> progress;
};

struct ServersAnswer {
  int error;         // an errno, 0 if the file is there
  std::string path;  // of the file in the cache of debuginfod
};

// False where libdebuginfod or a function of it is missing.
bool can_ask_servers();

// Situation: Ctrl-C while a server accepts and never answers. Example: the client of elfutils 0.192
// calls nobody back before a server has begun to send, for 90 seconds. Remedy: it runs on a thread
// of its own, which is left to its time limit when the answer is no longer wanted.
ServersAnswer ask_servers(bool executable, const std::string& build_id, const std::string& what,
                          const FetchWatch& watch);

}  // namespace whocall
