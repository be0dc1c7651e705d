// Places in the source that code names, as Python has them.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "python/convert.h"
#include "symbols/inferred/rust_paths.h"
#include "symbols/source_places.h"

namespace whocall::python {

// (file, line, column or None, link address, crate or None, module or None, near)
inline pybind11::tuple hint_tuples(const std::vector<SourceHint>& hints) {
  namespace py = pybind11;
  py::tuple made(hints.size());
  for (std::size_t i = 0; i < hints.size(); ++i) {
    const SourceHint& each = hints[i];
    made[i] = py::make_tuple(
        text(each.file), each.line,
        each.column != 0 ? py::object(py::int_(each.column)) : py::object(py::none()), each.address,
        text_or_none(crate_of_path(each.file)), text_or_none(module_of_path(each.file)), each.near);
  }
  return made;
}

}  // namespace whocall::python
