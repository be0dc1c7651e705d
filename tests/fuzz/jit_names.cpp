// Hostile JIT compilers: their perf maps (first byte even) and jitdumps (odd) give functions that
// do not overlap, whatever was put where.
#include <cstddef>
#include <cstdint>

#include "base/budget.h"
#include "fuzz.h"
#include "symbols/jit/jit_functions.h"
#include "symbols/jit/jitdump.h"
#include "symbols/jit/perf_map.h"

namespace {

using namespace whocall;

void check(const JitFunctions& functions) {
  Address end = 0;
  for (const auto& [start, function] : functions.all()) {
    fuzz::demand(start == function.range.begin && start >= end && !function.range.empty());
    end = function.range.end;
    fuzz::demand(functions.at(start) == &function);
    for (const JitLine& line : function.lines) {
      fuzz::demand(line.file < functions.files.size());
    }
  }
  (void)functions.at(~Address{0});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned kind = input.byte();
  const std::vector<std::byte> own = input.copy();
  JitFunctions functions;
  Budget budget("input", own.size());
  if (kind % 2 == 0) {
    read_perf_map({reinterpret_cast<const char*>(own.data()), own.size()}, functions, budget);
  } else {
    (void)read_jitdump_header(own);
    const auto holds = [&](Address address, std::span<const std::byte>) {
      return (kind & 2U) == 0 || address % 3 != 0;
    };
    read_jitdump(own, holds, functions, budget);
  }
  check(functions);
  return 0;
}
