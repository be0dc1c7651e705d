// Which function a runtime address belongs to, whatever module it lies in: by unwind tables where
// there are some, else by the function starts that the code itself shows.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "process/process_image.h"
#include "symbols/symbolizer.h"
#include "unwind/code/anonymous_code.h"
#include "unwind/rows/cfi_tables.h"

namespace whocall {

class CodeMap {
 public:
  // All must outlive the map.
  CodeMap(const ProcessImage& process, CfiTables& cfi, Symbolizer& symbolizer);
  CodeMap(const CodeMap&) = delete;
  CodeMap& operator=(const CodeMap&) = delete;
  ~CodeMap();

  // The function's range in runtime addresses; a miss where there is no code.
  std::optional<AddressRange> function_at(Address runtime);
  // Whether the bounds of the function at `runtime` come from an unwind table.
  bool has_exact_bounds(Address runtime) { return cfi_.covers(runtime); }
  // The end (runtime) of the code from the beginning of `function` on in which no other one hides,
  // as an unwind table or a symbol's own size delimits it; its beginning where neither does. What
  // is taken for one function may go on behind: up to the next that is known.
  Address end_of_delimited(const AddressRange& function);
  // Whether `runtime` is known to be called: by a direct call of its module, or by its name.
  bool is_called(Address runtime);
  // The same of code that no file holds; or a compiler has told that a function begins there.
  bool is_known_start(Address runtime);
  // The functions of the same module from which a direct jump leads into `range`.
  std::vector<AddressRange> functions_jumping_into(const AddressRange& range);
  // The section .plt, should `runtime` lie in it, and the size of its slots in bytes.
  struct LinkageTable {
    AddressRange range;  // runtime addresses
    std::uint64_t slot_size = 0;
  };
  std::optional<LinkageTable> linkage_table_at(Address runtime);
  // The name under which the module of `code` imports what the word at `slot` is bound to; empty
  // when it is no import. Both are runtime addresses.
  std::string_view import_at(Address code, Address slot);

 private:
  struct ModuleCode;
  ModuleCode* code_of(Address runtime);

  const ProcessImage& process_;
  CfiTables& cfi_;
  Symbolizer& symbolizer_;
  AnonymousCode loose_;
  std::vector<std::unique_ptr<ModuleCode>> modules_;  // by index in process_.modules
};

}  // namespace whocall
