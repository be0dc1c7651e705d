// Crashes that were recorded otherwise than as a core.
#include <pybind11/stl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "packing/unpack_limit.h"
#include "process/core/shrunk_core.h"
#include "process/minidump/library_places.h"
#include "process/minidump/minidump_as_core.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"
#include "symbols/external/stand_in_file.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

py::list modules_of_dump(const MinidumpAsCore& crash) {
  py::list modules;
  for (const ToldModule& module : crash.dump().modules) {
    modules.append(py::make_tuple(module.range.begin, module.range.end, text(module.path),
                                  text(module.build_id)));
  }
  return modules;
}

// What stores of crashes tell too, in their words; what is not told is left out.
py::dict fields_of_dump(const MinidumpAsCore& crash) {
  const Minidump& dump = crash.dump();
  py::dict fields;
  const auto add = [&](const char* name, std::string_view value) {
    if (!value.empty()) {
      fields[name] = text(value);
    }
  };
  const auto add_number = [&](const char* name, std::uint64_t value) {
    add(name, value == 0 ? std::string() : std::to_string(value));
  };
  add("writer", dump.writer);
  add("system", dump.system);
  add("command", dump.command);
  add_number("pid", dump.pid);
  if (!dump.modules.empty()) {
    add("exe", dump.modules.front().path);
  }
  add_number("signal", dump.signal ? static_cast<std::uint64_t>(dump.signal->number) : 0);
  add_number("time", dump.time);
  return fields;
}

[[noreturn]] void fail_as_shorter(const std::string& name) {
  throw Error(name, "became shorter while it was read", "Copy it anew");
}

void write_dump(MinidumpAsCore& crash, int file, const std::string& folder) {
  const int error = crash.write(file);
  if (error == EFAULT) {  // pages of the dump were not to be had
    fail_as_shorter(crash.name());
  }
  if (error != 0) {
    fail_to_write(crash.name(), {file, folder}, error);
  }
}

void write_shrunk(const ShrinkableCore& core, const Process& process, int file,
                  const std::string& folder, bool is_private) {
  const ProcessImage& image = process.image();
  const int error = core.write(file, image, is_private);
  if (error == EFAULT) {  // pages of the core were not to be had
    fail_as_shorter(image.core_path);
  }
  if (error != 0) {
    throw Error(folder, std::string("cannot hold the smaller core: ") + std::strerror(error),
                "Free some space, or name another folder in TMPDIR");
  }
}

py::tuple library_folders() {
  py::list folders;
  py::list parents;
  py::list ends;
  for (const std::string_view each : kLibraryFolders) {
    folders.append(text(each));
  }
  for (const std::string_view each : kParentFolders) {
    parents.append(text(each));
  }
  for (const std::string_view each : kFolderEnds) {
    ends.append(text(each));
  }
  return py::make_tuple(folders, parents, ends);
}

}  // namespace

void bind_dumps(py::module_& module) {
  py::class_<MinidumpAsCore, std::shared_ptr<MinidumpAsCore>>(module, "MinidumpAsCore")
      .def(py::init([](int file, const std::string& name) {
             return std::make_shared<MinidumpAsCore>(MappedFile::of_descriptor(file, name));
           }),
           py::arg("file"), py::arg("name"))
      .def_property_readonly("is_microdump", &MinidumpAsCore::is_microdump)
      .def_property_readonly("arch",
                             [](const MinidumpAsCore& crash) { return crash.dump().arch->name; })
      .def_property_readonly("modules", &modules_of_dump)
      .def_property_readonly(
          "threads", [](const MinidumpAsCore& crash) { return crash.dump().threads.size(); })
      .def_property_readonly("fields", &fields_of_dump)
      .def_property_readonly(
          "remarks", [](const MinidumpAsCore& crash) { return text_list(crash.dump().remarks); })
      .def_property_readonly("held",
                             [](MinidumpAsCore& crash) { return held_bytes(crash.segments()); })
      .def("place_libraries", &MinidumpAsCore::place_libraries, py::arg("sysroot"))
      .def("take_program", &MinidumpAsCore::take_program, py::arg("exe"))
      .def("add_files", &MinidumpAsCore::add_files, py::arg("files"))
      .def("write", &write_dump, py::arg("file"), py::arg("folder"))
      .def(
          "image",
          [](const std::shared_ptr<MinidumpAsCore>& crash, const FileSearch& search) {
            auto image = MinidumpAsCore::open(crash, search);
            lend_stand_ins(*image);
            return Process(std::move(image));
          },
          py::arg("search"));
  py::class_<ShrinkableCore>(module, "ShrinkableCore")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def(
          "image",
          [](ShrinkableCore& core, const FileSearch& search) {
            auto image = core.open(search);
            lend_stand_ins(*image);
            return Process(std::move(image));
          },
          py::arg("search"))
      .def(
          "keep",
          [](ShrinkableCore& core, Address begin, Address end) {
            core.keep({begin, end});
          },
          py::arg("begin"), py::arg("end"))
      .def("keep_code", &ShrinkableCore::keep_code, py::arg("pc"))
      .def("keep_signal", &ShrinkableCore::keep_signal, py::arg("sp"))
      .def("write", &write_shrunk, py::arg("process"), py::arg("file"), py::arg("folder"),
           py::arg("private"));
  module.def("library_folders", &library_folders);
}

}  // namespace whocall::python
