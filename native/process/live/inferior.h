// Makes a process image of what gdb tells of its inferior.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "process/modules/loaded_files.h"
#include "process/process_image.h"

namespace whocall {

// What gdb tells of its inferior; for anything that gdb can debug (live, remote, replayed).
struct InferiorSnapshot {
  std::string arch;  // our name
  std::int64_t pid = 0;
  std::vector<Thread> threads;
  std::vector<Mapping> mappings;     // may be empty when the target tells none
  std::vector<LoadedFile> files;     // as gdb has loaded them
  std::optional<Address> vdso;       // runtime address of its ELF header (AT_SYSINFO_EHDR)
  std::uint64_t signature_bits = 0;  // of code pointers; 0 where gdb does not tell
  // Whether it runs on this machine, so that /proc/PID is its own.
  bool is_local = false;
  // Reads up to `size` bytes; returns what could be read from the start on. Called with whole
  // pages; results are cached.
  std::function<std::vector<std::byte>(Address address, std::size_t size)> read_memory;
};
std::unique_ptr<ProcessImage> open_inferior(InferiorSnapshot snapshot, const FileSearch& search);

}  // namespace whocall
