// What told us that a function starts at an address, and how much that is worth.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/table/symbol.h"

namespace whocall {

// Best first. The weights:
//   certain  symtab, dynsym, pclntab, plt, bfd, symbol-file, signature, fde, entry-point,
//   init-array:
//            somebody wrote it down, or code of a library proves it. A
//            start of this kind always stands; what it delimits (a symbol's own size, an FDE) is
//            one function, and no weaker start cuts it.
//   strong   call-target, code-pointer, address-taken, landing-pad: the code behaves so. Such a
//            start stands outside what a certain one delimits.
//   guess    prologue, alignment: the bytes look so. It stands outside what a certain one delimits,
//            and only where no jump and no table of switch cases leads to it.
// Nobody enters what fde and section-start alone tell by a call: it may be a part of a function.
enum class StartWitness : std::uint8_t {
  symtab,
  dynsym,
  pclntab,  // the function table of the Go runtime
  plt,
  bfd,
  symbol_file,    // a list that the user gave
  signature,      // the code of a function in a static library that the user gave
  fde,            // an unwind table has an entry of its own for it
  entry_point,    // of the file, and the main that the code there hands to the C library
  init_array,     // run before or after main: init and fini arrays and functions
  call_target,    // a direct call goes there, or a jump from what a table covers to where none does
  code_pointer,   // a word of the data or a relocation points there
  address_taken,  // an instruction takes its address
  landing_pad,    // indirect calls may arrive there (endbr)
  prologue,       // behind padding or a return stands what functions begin with
  alignment,      // behind padding code begins at an aligned address, and no jump leads there
  section_start,  // code begins there
};
inline constexpr unsigned kStartWitnesses = 17;

// "symtab", "fde", "entry-point", "call-target", ...: the word in JSON.
std::string_view to_string(StartWitness witness);

// A set of witnesses.
class StartWitnesses {
 public:
  constexpr StartWitnesses() = default;
  constexpr StartWitnesses(StartWitness only)  // NOLINT(google-explicit-constructor): a set of one
      : bits_(bit(only)) {}

  constexpr StartWitnesses& operator|=(StartWitnesses other) {
    bits_ = static_cast<std::uint32_t>(bits_ | other.bits_);
    return *this;
  }
  [[nodiscard]] constexpr bool has(StartWitness witness) const {
    return (bits_ & bit(witness)) != 0;
  }
  // Whether any of these was written down for whoever loads, links or debugs the file.
  [[nodiscard]] constexpr bool certain() const {
    return (bits_ & (bit(StartWitness::call_target) - 1U)) != 0;
  }
  // Whether something is known to enter here as calls do.
  [[nodiscard]] constexpr bool called() const {
    return (bits_ & ~(bit(StartWitness::fde) | bit(StartWitness::prologue) |
                      bit(StartWitness::alignment) | bit(StartWitness::section_start))) != 0;
  }
  // Whether this is a function, as far as anybody can tell, rather than a part of one.
  [[nodiscard]] constexpr bool is_function() const {
    return called() || has(StartWitness::prologue) || has(StartWitness::alignment);
  }
  // Best first.
  [[nodiscard]] std::vector<StartWitness> list() const;

  // As a number, to be kept; other bits than those of witnesses are dropped.
  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
  static constexpr StartWitnesses of_bits(std::uint32_t bits) {
    StartWitnesses witnesses;
    witnesses.bits_ = bits & ((1U << kStartWitnesses) - 1U);
    return witnesses;
  }

  friend constexpr bool operator==(StartWitnesses, StartWitnesses) = default;

 private:
  static constexpr std::uint32_t bit(StartWitness witness) {
    return static_cast<std::uint32_t>(1U << static_cast<unsigned>(witness));
  }
  std::uint32_t bits_ = 0;
};

// What a symbol of this source says; nothing for NameSource::none.
StartWitnesses witness_of(NameSource source);

}  // namespace whocall
