// The audit of one file.
#include <pybind11/stl.h>

#include "base/interrupt.h"
#include "base/long_work.h"
#include "object/open_files.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"
#include "unwind/audit/audit.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

Audit audit(const std::string& path, std::size_t difference_limit, std::uint64_t every) {
  AuditOptions options;
  options.difference_limit = difference_limit;
  options.every = every == 0 ? 1 : every;
  options.check_interrupt = &check_interrupt;
  const LongWork work("Auditing", path);
  return audit_file(open_shared(path, Formats::elf_and_pe), options);
}

// Counts by the names of `Named`, an enumeration from 0 on.
template <typename Named, std::size_t Size>
py::dict named_counts(const std::array<std::uint64_t, Size>& counts) {
  py::dict named;
  for (std::size_t i = 0; i < Size; ++i) {
    named[text(to_string(static_cast<Named>(i)))] = counts.at(i);
  }
  return named;
}

}  // namespace

void bind_audit(py::module_& module) {
  py::class_<AuditCount>(module, "AuditCount")
      .def_readonly("places", &AuditCount::places)
      .def_readonly("cfa", &AuditCount::cfa)
      .def_readonly("return_address", &AuditCount::return_address)
      .def_readonly("registers", &AuditCount::registers)
      .def_property_readonly(
          "outcomes",
          [](const AuditCount& count) { return named_counts<AuditOutcome>(count.outcomes); })
      .def_property_readonly("classes", [](const AuditCount& count) {
        return named_counts<AuditClass>(count.classes);
      });
  py::class_<AuditDifference>(module, "AuditDifference")
      .def_property_readonly("outcome",
                             [](const AuditDifference& item) { return to_string(item.outcome); })
      .def_property_readonly("class_name",
                             [](const AuditDifference& item) { return to_string(item.which); })
      .def_readonly("address", &AuditDifference::address)
      .def_readonly("function", &AuditDifference::function)
      .def_readonly("is_call", &AuditDifference::is_call)
      .def_readonly("table", &AuditDifference::table)
      .def_readonly("analysis", &AuditDifference::analysis)
      .def_readonly("code", &AuditDifference::code);
  py::class_<Audit>(module, "Audit")
      .def_readonly("arch", &Audit::architecture)
      .def_readonly("functions", &Audit::functions)
      .def_readonly("instructions", &Audit::instructions)
      .def_readonly("calls", &Audit::calls)
      .def_readonly("differences", &Audit::differences);
  module.def("audit", &audit, py::arg("path"), py::arg("difference_limit") = 20,
             py::arg("every") = 1);
}

}  // namespace whocall::python
