// What stands at the link addresses of one file: names, bounds, source lines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "object/elf_file.h"
#include "symbols/nearest_symbol.h"
#include "symbols/symbol_sources.h"

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
  std::optional<NearestSymbol> refused{};  // if asked: the symbol that did not give its name
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
  ~FileSymbols();

  [[nodiscard]] const ElfFile& file() const { return *file_; }

  FilePlace describe(Address link, NamingOptions options);

  std::shared_ptr<const SymbolTable> table() { return sources().table(); }
  std::shared_ptr<const SymbolTable> table_with_plt() { return sources().table_with_plt(); }
  const std::string& remark() { return sources().remark(); }
  const std::string& debug_file() { return sources().debug_file(); }
  const FunctionStarts* starts() { return sources().starts(); }
  std::shared_ptr<const InferredNames> inferred() { return sources().inferred(); }

  // What all this comes from, looked for when it is first asked for.
  SymbolSources& sources();
  // Whether that has happened.
  [[nodiscard]] bool is_open() const { return sources_ != nullptr; }

 private:
  std::optional<FunctionMatch> function_at(Address link, bool demangled);
  bool another_begins_in(const Symbol& symbol, Address link);
  bool ends_before(Address function, Address link);
  std::optional<FunctionMatch> unnamed_function_at(Address link);
  void infer_name(FunctionMatch& match);
  std::vector<SourceLine> lines_at(Address link, bool demangled);

  std::shared_ptr<const ElfFile> file_;
  const FileSearch& search_;
  std::shared_ptr<SymbolSources> sources_;  // null until sources()
};

}  // namespace whocall
