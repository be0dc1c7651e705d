// libdw (elfutils) behind a narrow interface, in a plugin that is loaded when the first source line
// of an ELF file is asked for: all that whocall reads of DWARF's .debug_info and .debug_line.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/mapping_guard.h"
#include "object/source_line.h"

namespace whocall {

// A file with debug info, as libdw is to see it.
struct DebugInfoFile {
  std::string path;
  std::vector<std::byte> image{};  // an ELF file in memory, read instead of `path`; may be empty
};

class DwarfLibrary {
 public:
  DwarfLibrary() = default;
  DwarfLibrary(const DwarfLibrary&) = delete;
  DwarfLibrary& operator=(const DwarfLibrary&) = delete;
  virtual ~DwarfLibrary() = default;

  // The lines of `file`; of what is damaged there are none. `supplementary` is the file that dwz
  // moved shared parts to; without one, what is there has no name. Asks `check` every few
  // milliseconds, and has what libdw maps guarded by `guard`. Throws Error when libdw does not take
  // the file, and whatever `check` throws: then nothing is lost, and it may be asked again.
  [[nodiscard]] virtual std::unique_ptr<LineTable> open(
      DebugInfoFile file, std::unique_ptr<DebugInfoFile> supplementary, InterruptCheck check,
      GuardMapping guard) = 0;
  [[nodiscard]] virtual std::string version() const = 0;  // "0.188"

  // The library, loaded at the first call; null when the plugin or libdw cannot be loaded (then
  // `load_failure()` says why and what to do).
  static DwarfLibrary* get();
  static std::string load_failure();
  // The plugin's file, which is not loaded for that; empty when there is none.
  static std::string path();
};

}  // namespace whocall
