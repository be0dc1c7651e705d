// What the code of one file tells of its functions, at link addresses: shared by all processes that
// have the file.
#pragma once

#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"
#include "symbols/symbol_sources.h"
#include "unwind/code/confirmed_starts.h"

namespace whocall {

// May be used from threads.
class FileCode {
 public:
  // All must outlive the object.
  FileCode(const ElfFile& file, const Architecture& arch, const FunctionStarts& starts,
           const SymbolSources& sources);

  // The function that covers `link`; a miss where there is no code.
  std::optional<AddressRange> function_at(Address link);
  // Whether `link` is known to be called: by a direct call of the file, or by its name.
  [[nodiscard]] bool is_called(Address link) const { return starts_.is_called(link); }
  // The direct jumps that lead from one function into another, sorted by target. One pass over all
  // code, the first time; for large files it is kept for other processes.
  const std::vector<DirectJump>& jumps_between_functions();
  // The name under which the file imports what the word at `slot` is bound to; empty when it is no
  // import.
  [[nodiscard]] std::string_view import_at(Address slot) const;

 private:
  [[nodiscard]] std::vector<DirectJump> find_jumps() const;

  const ElfFile& file_;
  const Architecture& arch_;
  const FunctionStarts& starts_;
  const SymbolSources& sources_;
  std::unordered_map<Address, std::string_view> imports_;  // by address of the word
  std::mutex mutex_;                                       // guards what follows
  ConfirmedStarts confirmed_;
  std::optional<std::vector<DirectJump>> jumps_;
};

// The one that is kept with `sources`, those of the file; made when it is first asked for.
FileCode& file_code_of(const ElfFile& file, const Architecture& arch, const FunctionStarts& starts,
                       SymbolSources& sources);

}  // namespace whocall
