#include "symbols/starts/start_witness.h"

#include <array>

namespace whocall {

std::string_view to_string(StartWitness witness) {
  static constexpr std::array<std::string_view, kStartWitnesses> kWords = {
      "symtab",        "dynsym",      "pclntab",     "plt",        "bfd",          "symbol-file",
      "signature",     "fde",         "entry-point", "init-array", "call-target",  "code-pointer",
      "address-taken", "landing-pad", "prologue",    "alignment",  "section-start"};
  return kWords[static_cast<std::size_t>(witness)];
}

std::vector<StartWitness> StartWitnesses::list() const {
  std::vector<StartWitness> found;
  for (unsigned i = 0; i < kStartWitnesses; ++i) {
    if (has(static_cast<StartWitness>(i))) {
      found.push_back(static_cast<StartWitness>(i));
    }
  }
  return found;
}

StartWitnesses witness_of(NameSource source) {
  switch (source) {
    case NameSource::symtab:
    case NameSource::debug_file:
    case NameSource::gnu_debugdata:
      return StartWitness::symtab;
    case NameSource::dynsym:
      return StartWitness::dynsym;
    case NameSource::plt:
      return StartWitness::plt;
    case NameSource::bfd:
      return StartWitness::bfd;
    case NameSource::pclntab:
      return StartWitness::pclntab;
    case NameSource::symbol_file:
      return StartWitness::symbol_file;
    case NameSource::signature:
      return StartWitness::signature;
    case NameSource::entry:
      return StartWitness::entry_point;
    case NameSource::vtable:
      return StartWitness::code_pointer;
    case NameSource::fde:
      return StartWitness::fde;
    case NameSource::call_target:
      return StartWitness::call_target;
    case NameSource::message:
    case NameSource::initializer:
    case NameSource::jit_object:
    case NameSource::jitdump:
    case NameSource::perf_map:
    case NameSource::none:
      break;
  }
  return {};
}

}  // namespace whocall
