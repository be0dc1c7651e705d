// The module _native: bindings only. Every function is described in gdbext/whocall/_native.pyi.
#include <pybind11/pybind11.h>

#include "base/error.h"
#include "base/mapping_guard.h"
#include "python/bindings.h"
#include "python/convert.h"

namespace py = pybind11;

namespace {

// whocall.Error with the three parts as attributes.
void register_error(py::module_& module) {
  static py::handle error_type =
      py::exception<whocall::Error>(module, "Error", PyExc_Exception).release();
  py::register_exception_translator(
      [](std::exception_ptr pending) {  // NOLINT(performance-unnecessary-value-param): its type
        try {
          if (pending) {
            std::rethrow_exception(pending);
          }
        } catch (const whocall::Error& error) {
          py::object value = error_type(whocall::python::text(error.what()));
          value.attr("path") = whocall::python::text(error.path());
          value.attr("reason") = whocall::python::text(error.reason());
          value.attr("remedy") = whocall::python::text(error.remedy());
          PyErr_SetObject(error_type.ptr(), value.ptr());
        }
      });
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "The native core of whocall; its interface is described in _native.pyi.";
  module.attr("__version__") = WHOCALL_VERSION;
  register_error(module);
  module.def("cut_files", [] {
    const whocall::CutFiles cut = whocall::cut_files();
    return py::make_tuple(cut.count, whocall::python::text(cut.last));
  });
  whocall::python::bind_long_work(module);
  whocall::python::bind_image_parts(module);
  whocall::python::bind_backtrace(module);
  whocall::python::bind_symbols(module);
  whocall::python::bind_functions(module);
  whocall::python::bind_places(module);
  whocall::python::bind_process(module);
  whocall::python::bind_rows(module);
  whocall::python::bind_audit(module);
  whocall::python::bind_signatures(module);
  whocall::python::bind_tracing(module);
  whocall::python::bind_sandbox(module);
  whocall::python::bind_dumps(module);
  whocall::python::bind_packing(module);
}
