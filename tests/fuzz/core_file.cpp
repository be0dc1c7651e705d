// Hostile core files: opening one throws Error or gives an image whose threads can all be walked.
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "fuzz.h"
#include "mutators.h"
#include "process/core/core_file.h"
#include "process/process_image.h"
#include "unwind/walk/walker.h"

namespace {

using namespace whocall;

void walk_all(const ProcessImage& process) {
  Walker walker(process);
  WalkOptions options;
  options.max_frames = 200;
  options.explain = true;
  std::size_t budget = 20;
  for (const Thread& thread : process.threads) {
    if (budget-- == 0) {
      break;
    }
    fuzz::demand(!walker.walk(thread, options).frames.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Scratch scratch;
  if (!scratch.write(std::as_bytes(std::span(data, size)))) {
    return 0;
  }
  FileSearch search;
  search.sysroot = "/nonexistent";  // a core must not lead the fuzzer to files of this machine
  try {
    walk_all(*open_core(scratch.path(), search));
  } catch (const Error&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return whocall::fuzz::mutate_elf(data, size, most, seed, 0);
}
