#include "symbols/table/demangler.h"

#include "object/bfd_library.h"

namespace whocall {

bool looks_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("__Z") || name.starts_with("_R") ||
         name.starts_with("_D");
}

std::string demangle(std::string_view name) {
  BfdLibrary* library = looks_mangled(name) ? BfdLibrary::get() : nullptr;
  if (library == nullptr) {
    return std::string(name);
  }
  const std::string_view inner = name.starts_with("__Z") ? name.substr(1) : name;
  std::string text = library->demangle(std::string(inner));
  return text == inner ? std::string(name) : text;
}

}  // namespace whocall
