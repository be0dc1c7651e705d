#include "symbols/discovery/start_evidence.h"

#include <array>
#include <cstddef>

namespace whocall {

std::string_view to_string(StartEvidence kind) {
  static constexpr std::array<std::string_view, kStartEvidenceKinds> kWords = {
      "symtab",      "dynsym",      "pclntab",      "plt",           "bfd",
      "symbol-file", "signature",   "fde",          "pdr",           "entry-point",
      "init-array",  "call-target", "code-pointer", "address-taken", "landing-pad",
      "prologue",    "alignment",   "unreached",    "section-start"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::vector<StartEvidence> StartEvidenceSet::list() const {
  std::vector<StartEvidence> found;
  for (unsigned i = 0; i < kStartEvidenceKinds; ++i) {
    if (has(static_cast<StartEvidence>(i))) {
      found.push_back(static_cast<StartEvidence>(i));
    }
  }
  return found;
}

StartEvidenceSet evidence_of(NameSource source) {
  switch (source) {
    case NameSource::symtab:
    case NameSource::debug_file:
    case NameSource::gnu_debugdata:
      return StartEvidence::symtab;
    case NameSource::dynsym:
      return StartEvidence::dynsym;
    case NameSource::plt:
      return StartEvidence::plt;
    case NameSource::bfd:
      return StartEvidence::bfd;
    case NameSource::pclntab:
      return StartEvidence::pclntab;
    case NameSource::symbol_file:
      return StartEvidence::symbol_file;
    case NameSource::signature:
      return StartEvidence::signature;
    case NameSource::entry:
      return StartEvidence::entry_point;
    case NameSource::objc:
    case NameSource::vtable:
      return StartEvidence::code_pointer;
    case NameSource::fde:
      return StartEvidence::fde;
    case NameSource::call_target:
      return StartEvidence::call_target;
    case NameSource::frametable:
    case NameSource::message:
    case NameSource::registration:
    case NameSource::initializer:
    case NameSource::part:
    case NameSource::jit_object:
    case NameSource::jitdump:
    case NameSource::perf_map:
    case NameSource::none:
      break;
  }
  return {};
}

}  // namespace whocall
