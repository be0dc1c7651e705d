// Writes the ELF file that a debugger takes for the separate debug file of another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/instruction.h"
#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

struct WrittenSymbol {
  AddressRange range;     // link addresses
  std::string_view name;  // as in symbol tables: mangled
  bool global = false;
};

// The functions that a file is to tell of, their names as its string table will hold them.
class WrittenSymbols {
 public:
  struct Record {
    AddressRange range;
    std::uint32_t name = 0;  // offset in `names`, bytes
    bool global = false;
    std::uint8_t mode_bits = 0;  // of the symbol's value, besides the address
  };

  void reserve(std::size_t count);
  // Copies the name, and behind it `mark`.
  void add(const WrittenSymbol& symbol, std::string_view mark = {});

  // Where symbols of functions tell the mode of their code.
  void set_mode_bits(InstructionDecoder& decoder);

  [[nodiscard]] bool empty() const { return records_.empty(); }
  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] std::span<const Record> records() const { return records_; }
  [[nodiscard]] std::string_view names() const { return names_; }

 private:
  std::vector<Record> records_;
  std::string names_ = std::string(1, '\0');
};

enum class SymbolFilePlace : std::uint8_t {
  // The only debug file of the module, or in its stead.
  alone,
  // Rules for a gdb that has another debug file of the module. Of two such files gdb takes the
  // sections of one for the module's and forgets the names of the other and of the module itself;
  // so the sections are marked as those of thread-local data, in which it looks nothing up. It
  // takes symbols there for such data: `break NAME` works, `print NAME` does not.
  beside,
  // What is told of a process, at its own addresses: it goes with no module, and has no section of
  // any.
  of_process,
};

// What debuggers read in sections of these names; each may be empty.
struct DebugSections {
  std::span<const std::byte> frame{};   // .debug_frame
  std::span<const std::byte> info{};    // .debug_info
  std::span<const std::byte> abbrev{};  // .debug_abbrev
};

// `file` is the module's own, or any of the process. What gdb asks of such a file, measured on gdb
// 13, 16 and 18: the same type and entry point, and every loaded section of `file` under its name,
// address and size, though without contents. Where the section headers are gone, the segments stand
// for the sections. The note with the build id is copied, so that the file can also lie in a
// debug-file-directory. The same input gives the same bytes.
std::vector<std::byte> write_debug_file(const ElfFile& file, const WrittenSymbols& symbols,
                                        const DebugSections& debug,
                                        SymbolFilePlace place = SymbolFilePlace::alone);

}  // namespace whocall
