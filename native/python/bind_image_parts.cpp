// Threads, mappings and modules as read-only Python objects.
#include "python/bind_image_parts.h"

#include <pybind11/stl.h>

#include <utility>

#include "files/debuginfod.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

struct ThreadView {
  std::shared_ptr<Session> session;
  std::size_t index;
  [[nodiscard]] const Thread& get() const { return session->image->threads[index]; }
  [[nodiscard]] const Architecture& arch() const { return *session->image->arch; }
};

struct ModuleView {
  std::shared_ptr<Session> session;
  std::size_t index;
  [[nodiscard]] const Module& get() const { return session->image->modules[index]; }
};

// Ctrl-C ends a fetch; `progress` is called with what is fetched, and the bytes done and in all.
void ask_debuginfod(FileSearch& search, const py::object& progress) {
  FetchWatch watch;
  watch.check_interrupt = [] {
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
  };
  if (!progress.is_none()) {
    watch.progress = [progress](const std::string& what, std::uint64_t done, std::uint64_t size) {
      progress(text(what), done, size);
    };
  }
  search.debuginfod = std::make_shared<Debuginfod>(std::move(watch));
}

// The path of a file of this build, with debug info if it is to be had, and why there is none.
std::pair<std::string, std::string> fetch(const FileSearch& search, const std::string& build_id,
                                          const std::string& name) {
  if (search.debuginfod == nullptr) {
    return {};
  }
  const FetchedFile debug = search.debuginfod->debug_info(build_id, name);
  if (debug.file != nullptr) {
    return {debug.file->path(), {}};
  }
  const FetchedFile whole = search.debuginfod->executable(build_id, name);
  return {whole.file != nullptr ? whole.file->path() : std::string(),
          whole.file != nullptr ? std::string() : debug.remark};
}

std::string permissions(const Mapping& mapping) {
  return {mapping.readable ? 'r' : '-', mapping.writable ? 'w' : '-',
          mapping.executable ? 'x' : '-'};
}

void bind_thread(py::module_& module) {
  py::class_<ThreadView>(module, "Thread")
      .def_property_readonly("number", [](const ThreadView& view) { return view.get().number; })
      .def_property_readonly("lwp", [](const ThreadView& view) { return view.get().lwp; })
      .def_property_readonly("name", [](const ThreadView& view) { return text(view.get().name); })
      .def_property_readonly("crashed", [](const ThreadView& view) { return view.get().crashed; })
      .def_property_readonly("signal", [](const ThreadView& view) { return view.get().signal; })
      .def_property_readonly(
          "signal_info",
          [](const ThreadView& view) -> py::object {
            const auto& info = view.get().signal_info;
            return info ? py::object(py::make_tuple(info->code, info->address, info->pid))
                        : py::object(py::none());
          })
      .def_property_readonly(
          "pc",
          [](const ThreadView& view) { return view.get().registers.get(view.arch().registers.pc); })
      .def_property_readonly(
          "sp",
          [](const ThreadView& view) { return view.get().registers.get(view.arch().registers.sp); })
      .def_property_readonly("registers", [](const ThreadView& view) {
        return register_dict(view.get().registers, view.arch());
      });
}

void bind_module(py::module_& module) {
  py::class_<ModuleView>(module, "Module")
      .def_readonly("index", &ModuleView::index)
      .def_property_readonly("path", [](const ModuleView& view) { return text(view.get().path); })
      .def_property_readonly("file_path",
                             [](const ModuleView& view) { return text(view.get().file_path); })
      .def_property_readonly("begin", [](const ModuleView& view) { return view.get().range.begin; })
      .def_property_readonly("end", [](const ModuleView& view) { return view.get().range.end; })
      .def_property_readonly("bias", [](const ModuleView& view) { return view.get().bias; })
      .def_property_readonly("build_id_in_memory",
                             [](const ModuleView& view) { return view.get().build_id_in_memory; })
      .def_property_readonly("build_id_on_disk",
                             [](const ModuleView& view) { return view.get().build_id_on_disk; })
      .def_property_readonly("state",
                             [](const ModuleView& view) { return to_string(view.get().state); })
      .def_property_readonly("remark",
                             [](const ModuleView& view) { return text(view.get().remark); })
      .def_property_readonly("has_stand_in",  // a list of names and rows, in place of a file
                             [](const ModuleView& view) {
                               return view.get().state == ModuleState::missing &&
                                      view.get().file != nullptr;
                             })
      .def_property_readonly("is_executable",
                             [](const ModuleView& view) { return view.get().is_executable; });
}

}  // namespace

void bind_image_parts(py::module_& module) {
  py::class_<FileSearch>(module, "FileSearch")
      .def(py::init<>())
      .def_readwrite("exe", &FileSearch::exe)
      .def_readwrite("sysroot", &FileSearch::sysroot)
      .def_readwrite("directories", &FileSearch::directories)
      .def_readwrite("debug_directories", &FileSearch::debug_directories)
      .def_readwrite("symbol_files", &FileSearch::symbol_files)
      .def_readwrite("signature_files", &FileSearch::signature_files)
      .def_property_readonly("debuginfod",
                             [](const FileSearch& search) { return search.debuginfod != nullptr; })
      .def("ask_debuginfod", &ask_debuginfod, py::arg("progress") = py::none())
      .def(
          "fetch",
          [](const FileSearch& search, const std::string& build_id, const std::string& name) {
            const auto [path, remark] = fetch(search, build_id, name);
            return std::pair(text(path), text(remark));
          },
          py::arg("build_id"), py::arg("name"));
  bind_thread(module);
  bind_module(module);
  py::class_<Mapping>(module, "Mapping")
      .def_property_readonly("begin", [](const Mapping& mapping) { return mapping.range.begin; })
      .def_property_readonly("end", [](const Mapping& mapping) { return mapping.range.end; })
      .def_readonly("offset", &Mapping::offset)
      .def_property_readonly("permissions", &permissions)
      .def_readonly("permissions_known", &Mapping::permissions_known)
      .def_property_readonly("path", [](const Mapping& mapping) { return text(mapping.path); });
}

py::list threads_of(const std::shared_ptr<Session>& session) {
  py::list threads;
  for (std::size_t i = 0; i < session->image->threads.size(); ++i) {
    threads.append(ThreadView{session, i});
  }
  return threads;
}

py::list modules_of(const std::shared_ptr<Session>& session) {
  py::list modules;
  for (std::size_t i = 0; i < session->image->modules.size(); ++i) {
    modules.append(ModuleView{session, i});
  }
  return modules;
}

}  // namespace whocall::python
