// Unwind tables of a real file: decoding and compiling every FDE, time per row; and finding the
// FDE of an address. Set WHOCALL_BENCH_FILE to choose the file.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "bench_files.h"
#include "object/call_frame_info.h"
#include "object/elf_file.h"
#include "unwind/rows/fde_rows.h"

namespace whocall {
namespace {

void compile_all_rows(benchmark::State& state) {
  const auto file = ElfFile::open(bench::file());
  std::int64_t rows = 0;
  std::size_t functions = 0;
  for (auto _ : state) {
    functions = 0;
    const auto info = CallFrameInfo::of_eh_frame(*file);
    info->for_each([&](const Fde& fde) {
      rows += static_cast<std::int64_t>(compile(fde).size());
      ++functions;
    });
  }
  state.SetItemsProcessed(rows);
  state.counters["FDEs"] = static_cast<double>(functions);
}

void find_fde(benchmark::State& state) {
  const auto file = ElfFile::open(bench::file());
  const auto info = CallFrameInfo::of_eh_frame(*file);
  std::vector<Address> addresses;
  info->for_each([&](const Fde& fde) { addresses.push_back(fde.range.begin); });
  std::shuffle(addresses.begin(), addresses.end(), std::mt19937_64(1));
  for (auto _ : state) {
    for (const Address address : addresses) {
      benchmark::DoNotOptimize(info->find(address));
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * addresses.size()));
}

BENCHMARK(compile_all_rows)->Unit(benchmark::kMillisecond);
BENCHMARK(find_fde)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace whocall
