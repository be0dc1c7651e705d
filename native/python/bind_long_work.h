// Long work of native code hears Ctrl-C, and says what it is about.
#pragma once

#include <pybind11/pybind11.h>

namespace whocall::python {

void bind_long_work(pybind11::module_& module);

}  // namespace whocall::python
