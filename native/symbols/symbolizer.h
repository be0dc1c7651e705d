// What stands at a runtime address of a process: module, function, source line.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "process/process_image.h"
#include "symbols/external/symbol_files.h"
#include "symbols/file_symbols.h"
#include "symbols/jit/jit_names.h"

namespace whocall {

struct Place : FilePlace {
  const Module* module = nullptr;
};

// Remembers every answer: the frames of many threads and of deep recursion ask for the same few
// addresses.
class Symbolizer {
 public:
  // The process must outlive the symbolizer.
  explicit Symbolizer(const ProcessImage& process);
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  ~Symbolizer() = default;

  // `runtime` is the address to look up: for a caller one that lies inside its call instruction.
  const Place& describe(Address runtime, NamingOptions options);

  // What a module's file tells; null when the module has none.
  FileSymbols* symbols_of(const Module& module);

  // What is known of the names of code that no file is behind.
  JitNames& jit_names() { return jit_names_; }

  // On lists of names that the user gave, and on logs of JIT compilers, that lend no names: whole
  // sentences. Reads the lists.
  std::vector<std::string> warnings();

 private:
  struct ModuleNames {
    FileSearch search;  // with the lists of this module only
    std::unique_ptr<FileSymbols> symbols;
  };
  const AssignedSymbolFiles& assigned_lists();
  bool name_jit_code(Address runtime, const NamingOptions& options, Place& place);
  Place look_up(Address runtime, NamingOptions options);

  const ProcessImage& process_;
  std::vector<std::unique_ptr<ModuleNames>> modules_;  // by index in process_.modules
  std::optional<AssignedSymbolFiles> lists_;           // made when first needed
  JitNames jit_names_;
  struct Answer {
    Address runtime = 0;
    unsigned options = 0;
    const Place* place = nullptr;
  };
  static constexpr unsigned kLatelyLog = 12;

  std::array<std::unordered_map<Address, Place>, 8> answers_;  // by options
  std::vector<Answer> lately_;  // some of these, by a hash, each in the place of another
};

}  // namespace whocall
