// Backtraces of several threads, which are written as text or JSON without a frame in Python.
#pragma once

#include <pybind11/pybind11.h>

#include "python/session.h"

namespace whocall::python {

void bind_report(pybind11::class_<Process>& process, pybind11::module_& module);

}  // namespace whocall::python
