// What threads wait for, as text and JSON.
#include <pybind11/stl.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"
#include "report/waits/waits_text.h"
#include "waits/find_waits.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

// What to call each thread, by its index, in the order in which they are told.
using Numbers = std::vector<std::pair<std::size_t, std::int64_t>>;

WaitsReport report_on(const Process& process, const Numbers& numbers, const std::string& inferior) {
  Session& session = *process.session();
  WaitsReport report;
  report.process = session.image.get();
  report.inferior = inferior;
  for (const Thread& thread : session.image->threads) {
    report.numbers.push_back(thread.number);
  }
  for (const auto& [index, number] : numbers) {
    if (index >= report.numbers.size()) {
      throw py::index_error("there is no thread with this index");
    }
    report.numbers[index] = number;
    report.order.push_back(index);
  }
  report.waits = find_waits(session.walker, *session.symbolizer);
  report.cycles = find_cycles(report.waits);
  return report;
}

py::list texts(const std::vector<std::string>& blocks) { return text_list(blocks); }

py::list waits_text(const Process& process, const Numbers& numbers, const std::string& inferior,
                    const std::map<std::string, std::string>& style) {
  const auto code = [&](const char* role) {
    const auto found = style.find(role);
    return found != style.end() ? found->second : std::string();
  };
  const Paint paint{
      .title = code("title"), .metadata = code("metadata"), .highlight = code("highlight")};
  std::vector<std::string> blocks;
  append_waits_text(report_on(process, numbers, inferior), paint, blocks);
  return texts(blocks);
}

py::list waits_json(const Process& process, const Numbers& numbers, const py::str& core,
                    const py::str& exe) {
  std::vector<std::string> blocks;
  append_waits_json(report_on(process, numbers, {}), bytes_of_text(core), bytes_of_text(exe),
                    blocks);
  return texts(blocks);
}

}  // namespace

void bind_waits(py::class_<Process>& process) {
  process.def("waits_text", &waits_text, py::arg("numbers"), py::arg("inferior"), py::arg("style"))
      .def("waits_json", &waits_json, py::arg("numbers"), py::arg("core"), py::arg("exe"));
}

}  // namespace whocall::python
