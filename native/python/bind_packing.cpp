// What is packed, and where it is unpacked to.
#include <pybind11/stl.h>

#include "packing/file_part.h"
#include "packing/sparse_file.h"
#include "packing/unpack_limit.h"
#include "process/input/input_kind.h"
#include "process/input/packed_crash.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

std::span<const std::byte> span_of(const py::bytes& bytes) {
  return std::as_bytes(std::span(std::string_view(bytes)));
}

// Less than `size` only at the end.
py::bytes read_part(FilePart& part, std::size_t size) {
  auto made = py::reinterpret_steal<py::bytes>(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!made) {
    throw py::error_already_set();
  }
  auto* const begin = reinterpret_cast<std::byte*>(PyBytes_AS_STRING(made.ptr()));
  const std::size_t have = read_fully(part, {begin, size});
  return have == size ? made : py::bytes(reinterpret_cast<const char*>(begin), have);
}

py::dict fields_of_report(const PackedCrash& crash) {
  py::dict fields;
  for (const auto& [key, value] : crash.fields()) {
    fields[text(key)] = text(value);
  }
  return fields;
}

void bind_sparse_files(py::module_& module) {
  py::class_<SparseFile>(module, "SparseFile")
      .def(py::init([](int file, std::string folder, std::string name) {
             return std::make_unique<SparseFile>(WritePlace{file, std::move(folder)},
                                                 std::move(name));
           }),
           py::arg("file"), py::arg("folder"), py::arg("name"))
      .def(
          "write", [](SparseFile& file, const py::bytes& piece) { file.write(span_of(piece)); },
          py::arg("piece"))
      .def("end", &SparseFile::end);
  module.def("require_size", &require_size, py::arg("size"), py::arg("name"));
  module.def(
      "require_room",
      [](std::uint64_t size, const std::string& name, std::string folder, int file) {
        require_room(size, name, {file, std::move(folder)});
      },
      py::arg("size"), py::arg("name"), py::arg("folder"), py::arg("file"));
}

}  // namespace

void bind_packing(py::module_& module) {
  module.def("kind_of_input", [](const py::bytes& head) { return input_kind(span_of(head)); });
  py::class_<FilePart>(module, "FilePart")
      .def(py::init<int, std::string, std::uint64_t, std::uint64_t>(), py::arg("file"),
           py::arg("name"), py::arg("offset"), py::arg("size"))
      .def("read", &read_part, py::arg("size"))
      .def("skip", &FilePart::skip, py::arg("size"))
      .def(
          "write",
          [](FilePart& part, int out, std::string folder) {
            return part.write({out, std::move(folder)});
          },
          py::arg("out"), py::arg("folder"))
      .def_property_readonly("damage", [](const FilePart& part) { return text(part.damage()); });
  py::class_<PackedCrash>(module, "PackedCrash")
      .def(py::init<int, std::string>(), py::arg("file"), py::arg("name"))
      .def_property_readonly("kind", &PackedCrash::kind)
      .def_property_readonly("fields", &fields_of_report)
      .def(
          "write",
          [](PackedCrash& crash, int out, std::string folder) {
            return crash.write({out, std::move(folder)});
          },
          py::arg("out"), py::arg("folder"))
      .def_property_readonly("damage",
                             [](const PackedCrash& crash) { return text(crash.damage()); });
  bind_sparse_files(module);
}

}  // namespace whocall::python
