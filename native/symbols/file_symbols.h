// All that tells what stands at the link addresses of one file: names, bounds, source lines. Each
// source is opened when it is first needed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "object/bfd_library.h"
#include "object/elf_file.h"
#include "symbols/inferred/inferred_names.h"
#include "symbols/refused_symbol.h"
#include "symbols/starts/function_starts.h"
#include "symbols/table/function_label.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

// The function that covers an address.
struct FunctionMatch {
  std::string name{};      // demangled if asked; "sub_1136" where only the bounds are known
  std::string raw_name{};  // as in the file; empty where only the bounds are known
  NameSource source = NameSource::none;
  Address start = 0;                   // link address
  std::uint64_t size = 0;              // bytes
  std::vector<std::string> aliases{};  // other names at the same start, as in the file
  std::string proof{};                 // of an inferred name: InferredName::proof
};

// What stands at one address.
struct FilePlace {
  Address link_address = 0;
  std::string section{};  // empty when unknown
  std::optional<FunctionMatch> function{};
  std::optional<RefusedSymbol> refused{};  // if asked: the symbol that did not give its name
  std::vector<SourceLine> lines{};         // innermost inlined call first; empty without debug info
};

struct NamingOptions {
  bool demangle = true;
  bool lines = true;
  bool refused = false;
};

class FileSymbols {
 public:
  // `search` must outlive the object.
  FileSymbols(std::shared_ptr<const ElfFile> file, const FileSearch& search);
  FileSymbols(const FileSymbols&) = delete;
  FileSymbols& operator=(const FileSymbols&) = delete;
  ~FileSymbols() = default;

  [[nodiscard]] const ElfFile& file() const { return *file_; }

  FilePlace describe(Address link, NamingOptions options);

  std::shared_ptr<const SymbolTable> table();
  // The same with the names of PLT slots.
  std::shared_ptr<const SymbolTable> table_with_plt();
  // Why something that was to lend names does not, in sentences; empty when nothing was refused.
  const std::string& remark();
  // The path of the separate debug file that lends names; empty when there is none.
  const std::string& debug_file();
  // Whether one of these has been asked for, and so the companions have been looked for.
  [[nodiscard]] bool is_open() const { return table_ != nullptr; }
  // Where functions begin. Null for object files before linking and for an instruction set that we
  // do not know.
  const FunctionStarts* starts();
  // What code and data tell of the names of functions without a symbol; null likewise.
  std::shared_ptr<const InferredNames> inferred();

 private:
  void open();
  std::optional<FunctionMatch> function_at(Address link, bool demangled);
  bool another_begins_in(const Symbol& symbol, Address link);
  std::optional<FunctionMatch> unnamed_function_at(Address link);
  void infer_name(FunctionMatch& match);
  std::vector<SourceLine> lines_at(Address link, bool demangled);

  std::shared_ptr<const ElfFile> file_;
  const FileSearch& search_;
  const Architecture* arch_;  // null where nothing can be said of the code

  std::shared_ptr<const SymbolTable> table_;  // null until open()
  std::string remark_;
  std::string debug_file_;
  std::string lines_path_;  // of the file with debug info; empty when there is none
  std::vector<std::shared_ptr<const LineTable>> lines_;  // of other sources
  std::shared_ptr<const SymbolTable> table_with_plt_;
  std::unique_ptr<FunctionStarts> starts_;
  std::shared_ptr<const InferredNames> inferred_;
  std::unique_ptr<BfdFile> bfd_;
  bool bfd_tried_ = false;
};

}  // namespace whocall
