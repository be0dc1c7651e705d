// Real files to measure with, and the memory that reading them takes.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

namespace whocall::bench {

// The file named by WHOCALL_BENCH_FILE, else the benchmark's own, which has symbols and tables.
inline std::string file() {
  const char* given = std::getenv("WHOCALL_BENCH_FILE");
  return given != nullptr ? given : "/proc/self/exe";
}

// MiB of memory that is the process's own, not that of mapped files; 0 where the kernel does not
// say.
inline double own_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) {
      return std::strtod(line.c_str() + sizeof("RssAnon:"), nullptr) / 1024;
    }
  }
  return 0;
}

}  // namespace whocall::bench
