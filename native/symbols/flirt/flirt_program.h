// The program that FLIRT's modules are looked for in: where its functions begin, and what is known
// of where its calls lead.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arch/instruction.h"
#include "base/address.h"
#include "object/elf_file.h"
#include "symbols/table/companion.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

class FlirtProgram {
 public:
  // All outlive the object.
  FlirtProgram(const ElfFile& file, const Architecture& arch, const Companions& companions);

  // Where functions begin, ascending; link addresses.
  [[nodiscard]] const std::vector<Address>& starts() const { return starts_; }
  // Folklore. Situation: a module has functions that its file does not tell. Example: those whose
  // names the maker could not tell from others'. Remedy: a function ends where the next one begins,
  // at `end` at the latest.
  [[nodiscard]] Address end_of(Address start, Address end) const;
  // Folklore. Situation: a function of a library ends with a call that never returns, and another
  // one begins with the same bytes. Example: glibc's thrd_exit for i386, 24 bytes, and its
  // strerror_r, which goes on behind its call. Remedy: behind code that the flow may come out of
  // stands another function, at once or behind padding.
  [[nodiscard]] bool may_end_at(Address start, Address end) const;
  // From there to the end of the area of code; empty outside.
  [[nodiscard]] ByteView code_at(Address address) const;
  // How much code there is, bytes.
  [[nodiscard]] std::uint64_t code_size() const;

  // Where the call or jump leads whose target linking wrote at this place; a miss where it is none.
  [[nodiscard]] std::optional<Address> branch_target(Address place) const;

  // What the file itself calls the function there.
  [[nodiscard]] std::vector<std::string_view> names_at(Address address) const;
  // What the stub there is bound to, which another file has; empty where it is none.
  [[nodiscard]] std::string_view import_at(Address address) const;

 private:
  // Whether the last instruction is one behind which the next one is carried out, or goes on behind
  // the end.
  [[nodiscard]] bool flows_out(Address start, Address end) const;

  const ElfFile& file_;
  const Architecture& arch_;
  std::vector<AddressRange> areas_;
  std::vector<Address> starts_;
  std::shared_ptr<const SymbolTable> table_;
  std::unordered_map<Address, std::string_view> imports_;
  std::unique_ptr<InstructionDecoder> decoder_;
};

}  // namespace whocall
