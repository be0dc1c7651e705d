// A process's threads and modules, as Python holds them.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "python/session.h"

namespace whocall::python {

pybind11::list threads_of(const std::shared_ptr<Session>& session);
pybind11::list modules_of(const std::shared_ptr<Session>& session);

}  // namespace whocall::python
