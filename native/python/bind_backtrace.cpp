// Walk options and backtraces, whose frames leave native code many at a time.
#include "python/bind_backtrace.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/frame_fields.h"
#include "report/form/cycles.h"
#include "unwind/strategies/strategies.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

WalkRequest make_request(const std::vector<std::string>& without, std::size_t max_frames,
                         bool explain, bool with_registers, bool lines, bool demangle,
                         bool past_main) {
  const auto& known = strategy_names();
  for (const std::string& name : without) {
    if (std::ranges::find(known, name) == known.end()) {
      std::string message = "there is no strategy \"" + name + "\"; there are";
      for (const std::string& other : known) {
        message += (other == known.front() ? " " : ", ") + other;
      }
      throw py::value_error(message);
    }
  }
  WalkRequest request;
  request.walk.without = without;
  request.walk.max_frames = max_frames;
  request.walk.explain = explain;
  request.walk.registers = with_registers;
  request.names = {.demangle = demangle, .lines = lines, .refused = explain};
  request.past_main = past_main;
  return request;
}

template <typename Make>
py::list list_of(const FinishedWalk& walk, const py::object& wanted, Make make) {
  const FrameRange range = range_of(walk, wanted);
  py::list made(range.count);
  for (std::size_t i = 0; i < range.count; ++i) {
    PyList_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i),
                    make(FrameFacts(walk.frames, range.at(i))).release().ptr());
  }
  return made;
}

py::list rows(const FinishedWalk& walk, const FrameFields& fields, const py::object& wanted) {
  return list_of(walk, wanted,
                 [&](const FrameFacts& facts) { return fields.row(facts, *walk.session); });
}

py::list objects(const FinishedWalk& walk, const FrameClass& type, const py::object& wanted) {
  return list_of(walk, wanted,
                 [&](const FrameFacts& facts) { return type.make(facts, *walk.session); });
}

std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> gaps(const FinishedWalk& walk,
                                                                    const py::object& wanted) {
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> found;
  for (const Gap& gap : find_gaps(walk.frames, range_of(walk, wanted))) {
    found.emplace_back(gap.begin, gap.end, gap.period);
  }
  return found;
}

}  // namespace

void bind_backtrace(py::module_& module) {
  py::class_<WalkRequest>(module, "WalkOptions")
      .def(py::init(&make_request), py::arg("without") = std::vector<std::string>(),
           py::arg("max_frames") = WalkOptions().max_frames, py::arg("explain") = false,
           py::arg("registers") = false, py::arg("lines") = true, py::arg("demangle") = true,
           py::arg("past_main") = true);
  py::class_<FrameFields>(module, "FrameFields")
      .def(py::init<const std::vector<std::string>&>(), py::arg("names"));
  py::class_<FrameClass>(module, "FrameClass").def(py::init<py::type>(), py::arg("type"));
  py::class_<FinishedWalk, std::shared_ptr<FinishedWalk>>(module, "Backtrace")
      .def("__len__", [](const FinishedWalk& walk) { return walk.frames.size(); })
      .def("rows", &rows, py::arg("fields"), py::arg("wanted"))
      .def("gaps", &gaps, py::arg("wanted"))
      .def("objects", &objects, py::arg("type"), py::arg("wanted"));
  module.def("strategies", &strategy_names);
  module.def(
      "gap_line",
      [](std::size_t begin, std::size_t end, std::size_t period) {
        return gap_line({begin, end, period});
      },
      py::arg("begin"), py::arg("end"), py::arg("period"));
}

FrameRange range_of(const FinishedWalk& walk, const py::object& wanted) {
  const std::size_t count = py::len(wanted);
  if (count == 0) {
    return {};
  }
  const FrameRange range{wanted[py::int_(0)].cast<std::size_t>(),
                         wanted.attr("step").cast<std::ptrdiff_t>(), count};
  if (std::max(range.first, range.at(count - 1)) >= walk.frames.size()) {
    throw py::index_error("there is no frame of this number");
  }
  return range;
}

std::shared_ptr<FinishedWalk> walk_thread(const std::shared_ptr<Session>& session,
                                          std::size_t thread, const WalkRequest& request) {
  if (thread >= session->image->threads.size()) {
    throw py::index_error("there is no thread with this index");
  }
  WalkOptions options = request.walk;
  options.check_interrupt = &check_interrupt;
  return std::make_shared<FinishedWalk>(
      session, thread,
      NamedWalk(session->walker.walk(session->image->threads[thread], options),
                *session->symbolizer, request.names, request.past_main));
}

}  // namespace whocall::python
