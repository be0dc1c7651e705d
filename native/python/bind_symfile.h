// What Process offers for the repair of debuggers.
#pragma once

#include "python/session.h"

namespace whocall::python {

void bind_symfile(pybind11::class_<Process>& process, pybind11::module_& module);

}  // namespace whocall::python
