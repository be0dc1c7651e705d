// What stands at a runtime address of a process: module, function, source line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "object/bfd_library.h"
#include "process/process_image.h"
#include "symbols/function_starts.h"
#include "symbols/inferred_names.h"
#include "symbols/symbol_table.h"

namespace whocall {

// The function that covers an address.
struct FunctionMatch {
  std::string name{};      // demangled if asked; "sub_1136" where only the bounds are known
  std::string raw_name{};  // as in the file; empty where only the bounds are known
  NameSource source = NameSource::none;
  Address start = 0;                   // link address
  std::uint64_t size = 0;              // bytes
  std::vector<std::string> aliases{};  // other names at the same start, as in the file
};

struct Place {
  const Module* module = nullptr;
  Address link_address = 0;  // of the address asked for, in its module
  std::string section;       // empty when unknown
  std::optional<FunctionMatch> function;
  std::vector<SourceLine> lines;  // innermost inlined call first; empty without debug info
};

// Opens symbol tables when first needed and remembers every answer: the frames of many threads and
// of deep recursion ask for the same few addresses.
class Symbolizer {
 public:
  struct Options {
    bool demangle = true;
    bool lines = true;
  };

  // The process must outlive the symbolizer.
  explicit Symbolizer(const ProcessImage& process);
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  ~Symbolizer();

  // `runtime` is the address to look up: for a caller one that lies inside its call instruction.
  const Place& describe(Address runtime, Options options);

  // The table of a module; null when the module has no file.
  std::shared_ptr<const SymbolTable> table_of(const Module& module);
  // Why a debug file of the module lends no names, a sentence; empty when none was refused.
  std::string remark_on(const Module& module);
  // The same with the names of PLT slots; null likewise.
  std::shared_ptr<const SymbolTable> table_with_plt_of(const Module& module);
  // Where functions begin in a module's file; null when it has none.
  const FunctionStarts* starts_of(const Module& module);
  // What code and data tell of the names of functions without a symbol; null likewise.
  std::shared_ptr<const InferredNames> inferred_names_of(const Module& module);

 private:
  struct ModuleSymbols;
  ModuleSymbols& symbols_of(const Module& module);
  Place look_up(Address runtime, Options options);
  std::optional<FunctionMatch> function_at(const Module& module, Address link, Options options);
  std::optional<FunctionMatch> unnamed_function_at(const Module& module, Address link);
  void infer_name(const Module& module, FunctionMatch& match);
  std::vector<SourceLine> lines_at(const Module& module, Address link, Options options);

  const ProcessImage& process_;
  std::vector<std::unique_ptr<ModuleSymbols>> modules_;  // by index in process_.modules
  std::unordered_map<std::uint64_t, Place> cache_[4];    // by options
};

// "sub_1136": the stable name of a function that has none. `start` is a link address.
std::string unnamed_function(Address start);

}  // namespace whocall
