// Which function a runtime address belongs to, whatever module it lies in: by unwind tables where
// there are some, else by the function starts that the code itself shows.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/address.h"
#include "process/process_image.h"
#include "symbols/function_starts.h"
#include "unwind/cfi_tables.h"

namespace whocall {

class CodeMap {
 public:
  // Both must outlive the map.
  CodeMap(const ProcessImage& process, CfiTables& cfi);

  // The function's range in runtime addresses; a miss outside all modules' code.
  std::optional<AddressRange> function_at(Address runtime);

 private:
  const FunctionStarts& starts_of(const Module& module);

  const ProcessImage& process_;
  CfiTables& cfi_;
  std::vector<std::unique_ptr<FunctionStarts>> starts_;  // by index in process_.modules
};

}  // namespace whocall
