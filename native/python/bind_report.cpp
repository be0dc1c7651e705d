#include "python/bind_report.h"
#include "base/long_work.h"

#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "python/bind_backtrace.h"
#include "python/convert.h"
#include "report/threads_json.h"
#include "report/threads_text.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

struct ThreadsReport {
  std::shared_ptr<Session> session;
  std::vector<std::shared_ptr<FinishedWalk>> walks;
  std::vector<ThreadTrace> traces;  // of these

  [[nodiscard]] const Architecture& arch() const { return *session->image->arch; }
};

// The number of each thread, whether it crashed, and the number of its signal.
std::vector<std::tuple<unsigned, bool, int>> thread_heads(const Process& process) {
  std::vector<std::tuple<unsigned, bool, int>> heads;
  for (const Thread& thread : process.image().threads) {
    heads.emplace_back(thread.number, thread.crashed, thread.signal);
  }
  return heads;
}

// Index of the thread, its number, whether it crashed, and its signal.
using Head = std::tuple<std::size_t, std::int64_t, bool, std::string>;

std::shared_ptr<ThreadsReport> walk_threads(const Process& process, const std::vector<Head>& heads,
                                            const WalkRequest& request,
                                            std::optional<std::int64_t> count) {
  auto report = std::make_shared<ThreadsReport>();
  report->session = process.session();
  const ShownPart part{.past_main = request.past_main, .count = count};
  constexpr std::string_view kProgram = "the program";
  const std::string& program = report->session->image->exe_path;
  LongWork work("Walking the stacks of", program.empty() ? kProgram : std::string_view(program));
  for (const auto& [index, number, crashed, signal] : heads) {
    work.reached(report->walks.size(), heads.size());
    report->walks.push_back(walk_thread(report->session, index, request));
    report->traces.push_back(
        shown_trace(report->session->image->threads[index], report->walks.back()->frames, part));
    report->traces.back().head = {number, crashed, signal};
  }
  return report;
}

// Which of the modules frames lie in, and how many; inlined calls are part of theirs.
std::vector<std::tuple<std::size_t, std::size_t>> frames_by_module(const ThreadsReport& report) {
  const ProcessImage& image = *report.session->image;
  std::vector<std::size_t> counts(image.modules.size());
  const Module* module = nullptr;
  for (const ThreadTrace& trace : report.traces) {
    for (std::size_t i = 0; i < trace.shown.count; ++i) {
      const FrameFacts facts = trace.frame(i);
      const Address pc = facts.frame().pc;
      if (facts.named().inlined()) {
        continue;
      }
      if (module == nullptr || !module->range.contains(pc)) {
        module = image.module_at(pc);
      }
      if (module != nullptr) {
        ++counts[static_cast<std::size_t>(module - image.modules.data())];
      }
    }
  }
  std::vector<std::tuple<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) {
      found.emplace_back(i, counts[i]);
    }
  }
  return found;
}

// An iterator of Python's over the blocks that a writer makes.
template <typename Writer>
struct Blocks {
  std::shared_ptr<ThreadsReport> report;  // which the writer looks into
  Writer writer;

  py::str next() {
    std::string block;
    if (!writer.append_block(block)) {
      throw py::stop_iteration();
    }
    return text(block);
  }
  static void bind(py::module_& module, const char* name) {
    py::class_<Blocks>(module, name)
        .def("__iter__", [](const py::object& self) { return self; })
        .def("__next__", &Blocks::next);
  }
};

Blocks<ThreadsText> text_of(const std::shared_ptr<ThreadsReport>& report, bool titles, bool fold,
                            const std::string& inferior,
                            const std::map<std::string, std::string>& style) {
  const auto code = [&](const char* role) {
    const auto found = style.find(role);
    return found != style.end() ? found->second : std::string();
  };
  const ThreadsForm form{titles, fold, inferior,
                         Paint{.title = code("title"),
                               .function = code("function"),
                               .filename = code("filename"),
                               .address = code("address"),
                               .metadata = code("metadata")}};
  return {report, ThreadsText(report->traces, report->arch(), form)};
}

Blocks<ThreadsJson> json_of(const std::shared_ptr<ThreadsReport>& report, std::size_t margin) {
  return {report, ThreadsJson(report->traces, margin)};
}

// The walk of a thread, which of its frames are shown, and why they end.
std::tuple<std::shared_ptr<FinishedWalk>, py::object, std::string_view, py::str> trace_of(
    const ThreadsReport& report, std::size_t number) {
  if (number >= report.traces.size()) {
    throw py::index_error("there is no thread of this number");
  }
  const ThreadTrace& trace = report.traces[number];
  const py::handle type(reinterpret_cast<PyObject*>(&PyRange_Type));
  const py::object range = type(trace.shown.first, trace.shown.first + trace.shown.count);
  return {report.walks[number], range, to_string(trace.stop.reason), text(trace.stop.detail)};
}

}  // namespace

void bind_report(py::class_<Process>& process, py::module_& module) {
  Blocks<ThreadsText>::bind(module, "TextBlocks");
  Blocks<ThreadsJson>::bind(module, "JsonBlocks");
  py::class_<ThreadsReport, std::shared_ptr<ThreadsReport>>(module, "ThreadsReport")
      .def("__len__", [](const ThreadsReport& report) { return report.traces.size(); })
      .def("trace", &trace_of, py::arg("number"))
      .def("frames_by_module", &frames_by_module)
      .def("text", &text_of, py::arg("titles"), py::arg("fold"), py::arg("inferior"),
           py::arg("style"))
      .def("json", &json_of, py::arg("margin"));
  process.def_property_readonly("thread_heads", &thread_heads);
  process.def("walk_threads", &walk_threads, py::arg("heads"), py::arg("options"),
              py::arg("count") = py::none());
}

}  // namespace whocall::python
