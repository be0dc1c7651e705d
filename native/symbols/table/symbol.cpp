#include "symbols/table/symbol.h"

namespace whocall {

std::string_view to_string(NameSource source) {
  switch (source) {
    case NameSource::symtab:
      return "symtab";
    case NameSource::dynsym:
      return "dynsym";
    case NameSource::debug_file:
      return "debug-file";
    case NameSource::gnu_debugdata:
      return "gnu-debugdata";
    case NameSource::pclntab:
      return "pclntab";
    case NameSource::objc:
      return "objc";
    case NameSource::plt:
      return "plt";
    case NameSource::bfd:
      return "bfd";
    case NameSource::symbol_file:
      return "symbol-file";
    case NameSource::jit_object:
      return "jit-object";
    case NameSource::jitdump:
      return "jitdump";
    case NameSource::perf_map:
      return "perf-map";
    case NameSource::entry:
      return "entry";
    case NameSource::vtable:
      return "vtable";
    case NameSource::signature:
      return "signature";
    case NameSource::frametable:
      return "frametable";
    case NameSource::message:
      return "message";
    case NameSource::registration:
      return "registration";
    case NameSource::initializer:
      return "initializer";
    case NameSource::part:
      return "part";
    case NameSource::fde:
      return "fde";
    case NameSource::call_target:
      return "call-target";
    case NameSource::none:
      break;
  }
  return "none";
}

bool is_inferred(NameSource source) {
  return source >= NameSource::entry && source <= NameSource::part;
}

}  // namespace whocall
