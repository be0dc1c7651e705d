// Real files to measure with.
#pragma once

#include <cstdlib>
#include <string>

namespace whocall::bench {

// The file named by WHOCALL_BENCH_FILE, else the benchmark's own, which has symbols and tables.
inline std::string file() {
  const char* given = std::getenv("WHOCALL_BENCH_FILE");
  return given != nullptr ? given : "/proc/self/exe";
}

}  // namespace whocall::bench
