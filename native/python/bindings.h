// What makes native code known to Python: each part of the module, in a file of its name.
#pragma once

#include <pybind11/pybind11.h>

namespace whocall::python {

class Process;  // session.h

void bind_long_work(pybind11::module_& module);
void bind_process(pybind11::module_& module);
void bind_places(pybind11::module_& module);
void bind_image_parts(pybind11::module_& module);
void bind_backtrace(pybind11::module_& module);
void bind_symbols(pybind11::module_& module);
void bind_functions(pybind11::module_& module);
void bind_rows(pybind11::module_& module);
void bind_audit(pybind11::module_& module);
void bind_sandbox(pybind11::module_& module);
void bind_dumps(pybind11::module_& module);
void bind_packing(pybind11::module_& module);
void bind_signatures(pybind11::module_& module);
void bind_tracing(pybind11::module_& module);

// Of the methods of Process.
void bind_listing(pybind11::class_<Process>& process);
void bind_report(pybind11::class_<Process>& process, pybind11::module_& module);
void bind_scene(pybind11::class_<Process>& process, pybind11::module_& module);
void bind_symfile(pybind11::class_<Process>& process, pybind11::module_& module);
void bind_waits(pybind11::class_<Process>& process);

}  // namespace whocall::python
