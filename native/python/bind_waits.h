#pragma once

#include "python/session.h"

namespace whocall::python {

void bind_waits(pybind11::class_<Process>& process);

}  // namespace whocall::python
