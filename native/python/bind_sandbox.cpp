// What a process that reads files of strangers gives up.
#include <pybind11/stl.h>

#include "base/sandbox.h"
#include "python/bindings.h"
#include "python/session.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

void restricted(std::vector<std::string> writable, bool network, bool programs, bool processes,
                bool children) {
  restrict_self({std::move(writable), network, programs, processes, children});
}

}  // namespace

void bind_sandbox(py::module_& module) {
  module.def("restrict_self", &restricted, py::arg("writable"), py::kw_only(), py::arg("network"),
             py::arg("programs"), py::arg("processes"), py::arg("children"));
  module.def("end_with_parent", &end_with_parent, py::arg("parent"));
  module.def("sandbox_support", [] {
    const SandboxSupport support = sandbox_support();
    return py::make_tuple(support.landlock, support.seccomp);
  });
}

}  // namespace whocall::python
