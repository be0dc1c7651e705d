// Disassembly around a place of a process.
#pragma once

#include "python/session.h"

namespace whocall::python {

void bind_listing(pybind11::class_<Process>& process);

}  // namespace whocall::python
