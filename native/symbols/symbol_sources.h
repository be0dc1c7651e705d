// What tells the names of one file: its symbols and those of its companions, where functions begin,
// what can be inferred, source lines. Each is made when it is first needed, and shared by all
// processes, threads and cores that have the file.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base/attachments.h"
#include "object/elf_file.h"
#include "symbols/companions.h"
#include "symbols/debug_lines.h"
#include "symbols/discovery/function_starts.h"
#include "symbols/inferred/name_inference.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

// May be used from threads. What it hands out does not change any more.
class SymbolSources {
 public:
  // Looks for the companions, and reads the symbols.
  SymbolSources(std::shared_ptr<const ElfFile> file, const FileSearch& search, DebugFile debug);

  [[nodiscard]] const std::shared_ptr<const SymbolTable>& table() const { return table_; }
  // The same with the names of PLT slots.
  std::shared_ptr<const SymbolTable> table_with_plt();
  // Why something that was to lend names does not, in sentences; empty when nothing was refused.
  [[nodiscard]] const std::string& remark() const { return remark_; }
  // The path of the separate debug file that lends names; empty when there is none.
  [[nodiscard]] const std::string& debug_file() const { return debug_file_; }
  // Where functions begin. Null for object files before linking and for an instruction set that we
  // do not know.
  const FunctionStarts* starts();
  // What code and data tell of the names of functions without a symbol; null likewise.
  std::shared_ptr<const InferredNames> inferred();
  // The one of the function that starts at `link`, a miss when it has none: without a look through
  // the file where that is not needed.
  std::optional<InferredName> inferred_name(Address link);
  // What shows that the function that starts at `link` has the name that a list gives it; empty
  // where the source of the name says all.
  [[nodiscard]] std::string proof_at(Address link) const;
  // Innermost inlined call first; empty without debug info.
  std::vector<SourceLine> lines_at(Address link);

  // Writes down for other processes which lines were asked for; of use when nobody asks any more.
  void keep_answers() noexcept;

  // What was found out in looking through all code of the file, kept for other processes under a
  // kind ("starts"). A miss where nothing is kept, as of small files.
  [[nodiscard]] std::optional<std::vector<std::byte>> kept(const std::string& kind) const;
  void keep(const std::string& kind, const std::vector<std::byte>& facts) const;

  // What others make of all this.
  Attachments& attachments() { return attachments_; }

 private:
  FunctionStarts make_starts();
  NameInference& inference();

  std::shared_ptr<const ElfFile> file_;
  std::optional<std::string> kept_as_;  // under which key facts are kept; a miss: they are not
  const Architecture* arch_;            // null where nothing can be said of the code
  std::shared_ptr<const SymbolTable> table_;
  std::string remark_;
  std::string debug_file_;
  std::vector<std::shared_ptr<const LineTable>> lines_;    // of other sources
  std::vector<std::shared_ptr<const NameProofs>> proofs_;  // of names that these have

  std::recursive_mutex mutex_;  // guards what follows
  std::shared_ptr<const SymbolTable> table_with_plt_;
  std::unique_ptr<FunctionStarts> starts_;
  std::unique_ptr<NameInference> inference_;
  DebugLines debug_lines_;
  Attachments attachments_;
};

// Those of `file`, by what `search` finds for it today; known ones where they were asked for before
// and the debug file is the same. Lists and libraries that the user gave may change at any time:
// with those, they are made anew.
std::shared_ptr<SymbolSources> symbol_sources_of(const std::shared_ptr<const ElfFile>& file,
                                                 const FileSearch& search);

}  // namespace whocall
