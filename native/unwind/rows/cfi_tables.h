// The unwind tables of one process, of its modules and of JIT code, opened when first needed, rows
// cached by pc.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "process/jit/jit_objects.h"
#include "process/process_image.h"
#include "unwind/rows/compiled_frames.h"
#include "unwind/rows/jit_frames.h"

namespace whocall {

class CfiTables {
 public:
  // The process must outlive the tables.
  explicit CfiTables(const ProcessImage& process);
  CfiTables(const CfiTables&) = delete;
  CfiTables& operator=(const CfiTables&) = delete;
  ~CfiTables();

  // The row in force at `runtime` (pass an activation's lookup_pc). Rows live as long as the
  // tables. A miss where no FDE covers the address.
  std::optional<CfiRow> row_at(Address runtime);

  // The range of the FDE that covers `runtime`, in runtime addresses.
  std::optional<AddressRange> function_at(Address runtime);
  // Whether there is one; compiles no rows, so that all functions of a module can be asked for.
  bool covers(Address runtime);

 private:
  class ModuleTables;
  struct Slot {
    Address runtime = ~Address{0};
    CfiRow found;
  };

  ModuleTables* tables_for(const Module& module);
  JitFrames* jit_frames_at(Address runtime);
  const CfiRow& cached(Address runtime);
  CfiRow look_up(Address runtime);

  const ProcessImage& process_;
  std::vector<std::unique_ptr<ModuleTables>> modules_;  // by index in process_.modules
  std::unordered_map<const JitObject*, std::unique_ptr<JitFrames>> jit_;
  // Direct-mapped cache: deep recursion and many threads ask for the same few addresses.
  static constexpr std::size_t kSlots = 1024;
  std::array<Slot, kSlots> slots_{};
};

}  // namespace whocall
