// What stands at an address, as Python holds it.
#pragma once

#include <memory>
#include <string>

#include "base/address.h"
#include "python/session.h"
#include "symbols/file_symbols.h"

namespace whocall::python {

struct PlaceView {
  std::shared_ptr<const void> owner;  // of the place
  Address address = 0;                // as it was asked for
  const FilePlace* place = nullptr;
  std::string module{};  // path; empty when the address lies in none
  std::string build_id{};
  bool in_module = true;
  std::shared_ptr<const ElfFile> file{};  // whose code stands there; null where none is known
};

// At a runtime address of a process.
PlaceView describe(const Process& process, Address address, bool demangle, bool lines,
                   bool refused);

}  // namespace whocall::python
