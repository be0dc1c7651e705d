// Names as their authors wrote them.
#pragma once

#include <string>
#include <string_view>

namespace whocall {

// The demangled C++ (Itanium), Rust (legacy and v0) or D name, with parameters, as gdb prints it;
// `name` itself when it is none. What stands behind an '@' stays. C names cost a look at their
// prefix. A name that is longer than mangled_size.h says, makes more text than it says, or could
// have its demangler work on and on, stays as it is. Not for use while a table is loaded: some
// names take long.
std::string demangle(std::string_view name);

// Whether the prefix is that of a mangling scheme: _Z, __Z (Mach-O), _R, _D.
bool looks_mangled(std::string_view name);

}  // namespace whocall
