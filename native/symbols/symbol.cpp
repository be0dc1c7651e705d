#include "symbols/symbol.h"

namespace whocall {

std::string_view to_string(NameSource source) {
  switch (source) {
    case NameSource::symtab:
      return "symtab";
    case NameSource::dynsym:
      return "dynsym";
    case NameSource::plt:
      return "plt";
    case NameSource::bfd:
      return "bfd";
    case NameSource::fde:
      return "fde";
    case NameSource::call_target:
      return "call-target";
    case NameSource::none:
      break;
  }
  return "none";
}

}  // namespace whocall
