// The evidence that a function starts at an address, and how much that is worth.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/table/symbol.h"

namespace whocall {

// Best first. The weights:
//   certain  symtab, dynsym, pclntab, plt, bfd, symbol-file, signature, fde, pdr, entry-point,
//   init-array:
//            somebody wrote it down, or code of a library proves it. A
//            start of this kind always stands; what it delimits (a symbol's own size, an FDE) is
//            one function, and no weaker start cuts it.
//   strong   call-target, code-pointer, address-taken, landing-pad: the code behaves so. Such a
//            start stands outside what a certain one delimits.
//   guess    prologue, alignment, unreached: the bytes look so. It stands outside what a certain
//   one
//            delimits, and only where no jump of its neighbours and no table of switch cases leads
//            to it.
// Nobody enters what fde and section-start alone tell by a call: it may be a part of a function.
enum class StartEvidence : std::uint8_t {
  symtab,
  dynsym,
  pclntab,  // the function table of the Go runtime
  plt,
  bfd,
  symbol_file,    // a list that the user gave
  signature,      // the code of a function in a static library that the user gave
  fde,            // an unwind table has an entry of its own for it
  pdr,            // a procedure descriptor of MIPS
  entry_point,    // of the file, and the main that the code there hands to the C library
  init_array,     // run before or after main: init and fini arrays and functions
  call_target,    // a direct call goes there, or a jump from what a table covers to where none does
  code_pointer,   // a word of the data or a relocation points there
  address_taken,  // an instruction takes its address
  landing_pad,    // indirect calls may arrive there (endbr)
  prologue,       // behind padding or a return stands what functions begin with, or a row of jumps
  alignment,      // behind padding code begins at an aligned address, and no jump leads there
  unreached,      // code begins where the one before it ends, and nothing of that leads there
  section_start,  // code begins there
};
inline constexpr unsigned kStartEvidenceKinds = 19;

// "symtab", "fde", "entry-point", "call-target", ...: the word in JSON.
std::string_view to_string(StartEvidence kind);

// All that speaks for one start.
class StartEvidenceSet {
 public:
  constexpr StartEvidenceSet() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a set of one
  constexpr StartEvidenceSet(StartEvidence only) : bits_(bit(only)) {}

  constexpr StartEvidenceSet& operator|=(StartEvidenceSet other) {
    bits_ = static_cast<std::uint32_t>(bits_ | other.bits_);
    return *this;
  }
  [[nodiscard]] constexpr bool has(StartEvidence kind) const { return (bits_ & bit(kind)) != 0; }
  // Whether any of these was written down for whoever loads, links or debugs the file.
  [[nodiscard]] constexpr bool certain() const {
    return (bits_ & (bit(StartEvidence::call_target) - 1U)) != 0;
  }
  // Whether something is known to enter here as calls do.
  [[nodiscard]] constexpr bool called() const {
    return (bits_ & ~(bit(StartEvidence::fde) | bit(StartEvidence::prologue) |
                      bit(StartEvidence::alignment) | bit(StartEvidence::unreached) |
                      bit(StartEvidence::section_start))) != 0;
  }
  // Whether this is a function, as far as anybody can tell, rather than a part of one.
  [[nodiscard]] constexpr bool is_function() const {
    return called() || has(StartEvidence::prologue) || has(StartEvidence::alignment) ||
           has(StartEvidence::unreached);
  }
  // Best first.
  [[nodiscard]] std::vector<StartEvidence> list() const;

  // As a number, to be kept; unknown bits are dropped.
  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
  static constexpr StartEvidenceSet of_bits(std::uint32_t bits) {
    StartEvidenceSet evidence;
    evidence.bits_ = bits & ((1U << kStartEvidenceKinds) - 1U);
    return evidence;
  }

  friend constexpr bool operator==(StartEvidenceSet, StartEvidenceSet) = default;

 private:
  static constexpr std::uint32_t bit(StartEvidence kind) {
    return static_cast<std::uint32_t>(1U << static_cast<unsigned>(kind));
  }
  std::uint32_t bits_ = 0;
};

// What a symbol of this source says; nothing for NameSource::none.
StartEvidenceSet evidence_of(NameSource source);

}  // namespace whocall
