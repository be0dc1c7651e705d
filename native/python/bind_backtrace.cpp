// Walk options and backtraces, whose frames leave native code many at a time.
#include "python/bind_backtrace.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "python/convert.h"
#include "python/frame_fields.h"
#include "report/cycles.h"
#include "report/json_frames.h"
#include "report/text_lines.h"

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

// Python's range, all of whose numbers are frames of `walk`.
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

std::tuple<py::str, std::size_t> json(const FinishedWalk& walk, const py::object& wanted,
                                      std::size_t from, std::size_t margin) {
  std::string block;
  const std::size_t next =
      append_json_frames(block, walk.frames, range_of(walk, wanted), from, margin);
  return {text(block), next};
}

std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> gaps(
    const std::vector<std::uint32_t>& frames) {
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> found;
  for (const Gap& gap : find_gaps(frames)) {
    found.emplace_back(gap.begin, gap.end, gap.period);
  }
  return found;
}

// An iterator of Python's.
class TextBlocks {
 public:
  TextBlocks(std::shared_ptr<FinishedWalk> walk, const py::object& wanted, TextForm form)
      : walk_(std::move(walk)), lines_(walk_->frames, range_of(*walk_, wanted), std::move(form)) {}

  py::str next() {
    std::string block;
    if (!lines_.append_block(block)) {
      throw py::stop_iteration();
    }
    return text(block);
  }

 private:
  std::shared_ptr<FinishedWalk> walk_;
  TextLines lines_;
};

TextBlocks text_blocks(std::shared_ptr<FinishedWalk> walk, const py::object& wanted, Address sp,
                       bool fold, std::size_t pointer_size,
                       const std::map<std::string, std::string>& style) {
  const auto code = [&](const char* role) {
    const auto found = style.find(role);
    return found != style.end() ? found->second : std::string();
  };
  return {std::move(walk), wanted,
          TextForm{.fold = fold,
                   .pointer_digits = pointer_size * 2,
                   .sp = sp,
                   .function = code("function"),
                   .filename = code("filename"),
                   .address = code("address"),
                   .metadata = code("metadata")}};
}

}  // namespace

void bind_backtrace(py::module_& module) {
  py::class_<WalkRequest>(module, "WalkOptions")
      .def(py::init(&make_request), py::arg("without") = std::vector<std::string>(),
           py::arg("max_frames") = WalkOptions().max_frames, py::arg("explain") = false,
           py::arg("registers") = false, py::arg("lines") = true, py::arg("demangle") = true,
           py::arg("past_main") = true);
  py::class_<TextBlocks>(module, "TextBlocks")
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &TextBlocks::next);
  py::class_<FrameFields>(module, "FrameFields")
      .def(py::init<const std::vector<std::string>&>(), py::arg("names"));
  py::class_<FrameClass>(module, "FrameClass").def(py::init<py::type>(), py::arg("type"));
  py::class_<FinishedWalk, std::shared_ptr<FinishedWalk>>(module, "Backtrace")
      .def("__len__", [](const FinishedWalk& walk) { return walk.frames.size(); })
      .def("rows", &rows, py::arg("fields"), py::arg("wanted"))
      .def("objects", &objects, py::arg("type"), py::arg("wanted"))
      .def("json", &json, py::arg("wanted"), py::arg("start"), py::arg("margin"))
      .def("text", &text_blocks, py::arg("wanted"), py::arg("sp"), py::arg("fold"),
           py::arg("pointer_size"), py::arg("style"))
      .def_property_readonly(
          "stop_reason",
          [](const FinishedWalk& walk) { return to_string(walk.frames.stop().reason); })
      .def_property_readonly(
          "stop_detail", [](const FinishedWalk& walk) { return text(walk.frames.stop().detail); });
  module.def("strategies", &strategy_names);
  module.def("find_gaps", &gaps, py::arg("frames"));
}

std::shared_ptr<FinishedWalk> walk_thread(const std::shared_ptr<Session>& session,
                                          std::size_t thread, const WalkRequest& request) {
  if (thread >= session->image->threads.size()) {
    throw py::index_error("there is no thread with this index");
  }
  WalkOptions options = request.walk;
  options.check_interrupt = [] {
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
  };
  return std::make_shared<FinishedWalk>(
      session, NamedWalk(session->walker.walk(session->image->threads[thread], options),
                         *session->symbolizer, request.names, request.past_main));
}

}  // namespace whocall::python
