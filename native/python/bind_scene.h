// The moment of a crash, and what it proves.
#pragma once

#include <pybind11/pybind11.h>

#include "python/session.h"

namespace whocall::python {

void bind_scene(pybind11::class_<Process>& process, pybind11::module_& module);

}  // namespace whocall::python
