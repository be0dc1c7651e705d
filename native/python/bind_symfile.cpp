// The symbol files for debuggers.
#include <pybind11/stl.h>

#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/interrupt.h"
#include "base/long_work.h"
#include "object/elf_architecture.h"
#include "object/open_files.h"
#include "process/file_image.h"
#include "python/bind_backtrace.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"
#include "report/told_arguments.h"
#include "symfile/repair_file.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

const Module& module_with_file(const Session& session, std::size_t index) {
  if (index >= session.image->modules.size()) {
    throw py::index_error("there is no module with this index");
  }
  const Module& module = session.image->modules[index];
  if (module.file == nullptr) {
    throw py::value_error("the module has no file");
  }
  return module;
}

RepairFile repair_file(const Process& process, std::size_t index, bool names, bool debug_names,
                       bool own_names, bool rows, std::vector<Address> wanted, std::uint64_t budget,
                       std::unordered_set<Address> known, std::vector<Address> ends,
                       bool repeat_names, bool beside) {
  Session& session = *process.session();
  const Module& module = module_with_file(session, index);
  const LongWork work("Making the symbol file of", module.path);
  const RepairFileRequest request{
      .names = names,
      .choice = {.debug_names = debug_names, .own_names = own_names},
      .rows = rows,
      .wanted = std::move(wanted),
      .budget = budget,
      .ends = std::move(ends),
      .repeat_names = repeat_names,
      .place = beside ? SymbolFilePlace::beside : SymbolFilePlace::alone,
      .known = std::move(known),
      .check_interrupt = &check_interrupt};
  return make_repair_file(module, *session.symbolizer->symbols_of(module), session.walker, request);
}

// What it points into lives as long as it.
struct HeldArguments {
  explicit HeldArguments(std::shared_ptr<Session> of)
      : session(std::move(of)), told(session->values, *session->symbolizer) {}

  std::shared_ptr<Session> session;
  ToldArguments told;
};

std::unique_ptr<HeldArguments> told_arguments(
    const Process& process, const std::vector<std::shared_ptr<FinishedWalk>>& walks) {
  auto held = std::make_unique<HeldArguments>(process.session());
  const LongWork work("Looking for arguments in", held->session->image->core_path);
  for (const auto& walk : walks) {
    check_interrupt();
    held->told.add(walk->session->image->threads[walk->thread], walk->frames);
  }
  return held;
}

// The contents of a symbol file, and of how many functions it tells.
std::pair<py::bytes, std::size_t> argument_file(const HeldArguments& held,
                                                const std::vector<std::size_t>& modules) {
  std::vector<const Module*> wanted;
  for (const std::size_t index : modules) {
    wanted.push_back(&module_with_file(*held.session, index));
  }
  const ArgumentFile file = held.told.file_of(wanted);
  const auto* bytes = reinterpret_cast<const char*>(file.bytes.data());
  return {py::bytes(bytes, file.bytes.size()), file.functions};
}

std::vector<Address> starts_of(const RepairFile& file) {
  std::vector<Address> starts;
  for (const AddressRange& function : file.functions) {
    starts.push_back(function.begin);
  }
  return starts;
}

}  // namespace

void bind_symfile(py::class_<Process>& process, py::module_& module) {
  py::class_<RepairFile>(module, "RepairFile", py::buffer_protocol())
      .def_buffer([](const RepairFile& file) {
        return py::buffer_info(reinterpret_cast<const std::uint8_t*>(file.bytes.data()),
                               static_cast<py::ssize_t>(file.bytes.size()));
      })
      .def_property_readonly("bytes", [](const py::object& file) { return py::memoryview(file); })
      .def_readonly("named", &RepairFile::named)
      .def_readonly("unnamed", &RepairFile::unnamed)
      .def_property_readonly("functions", &starts_of)
      .def_readonly("complete", &RepairFile::complete);
  process.def("repair_file", &repair_file, py::arg("module"), py::arg("names") = true,
              py::arg("debug_names") = true, py::arg("own_names") = false, py::arg("rows") = true,
              py::arg("wanted") = std::vector<Address>(), py::arg("budget") = 0,
              py::arg("known") = std::unordered_set<Address>(),
              py::arg("ends") = std::vector<Address>(), py::arg("repeat_names") = false,
              py::arg("beside") = false);
  py::class_<HeldArguments>(module, "ToldArguments")
      .def("file", &argument_file, py::arg("modules"));
  process.def("told_arguments", &told_arguments, py::arg("walks"));
  module.def(
      "checksum",
      [](const py::buffer& buffer, std::uint64_t before) {
        const py::buffer_info info = buffer.request();
        const auto size = static_cast<std::size_t>(info.size * info.itemsize);
        return checksum({static_cast<const std::byte*>(info.ptr), size}, before);
      },
      py::arg("bytes"), py::arg("before") = 0);
  module.def(
      "open_file",
      [](const std::string& path, const FileSearch& search) {
        const auto file = open_shared(path);
        auto image = image_of_file(file, architecture_of(*file));
        image->search = search;
        return Process(std::move(image));
      },
      py::arg("path"), py::arg("search") = FileSearch());
}

}  // namespace whocall::python
