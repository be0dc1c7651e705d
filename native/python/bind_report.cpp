// Backtraces of several threads, which are written as text or JSON without a frame in Python.
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/long_work.h"
#include "python/bind_backtrace.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"
#include "report/form/numbers.h"
#include "report/stack_groups.h"
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
    report->traces.back().process = report->session->image.get();
    report->traces.back().values = &report->session->values;
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
  std::shared_ptr<ArgumentText> arguments{};  // likewise

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

FileDisplay file_display(const std::string& word) {
  constexpr std::pair<std::string_view, FileDisplay> kWords[] = {
      {"relative", FileDisplay::relative},
      {"basename", FileDisplay::basename},
      {"absolute", FileDisplay::absolute}};
  for (const auto& [name, display] : kWords) {
    if (word == name) {
      return display;
    }
  }
  throw py::value_error("files are named relative, basename or absolute, not " + word);
}

constexpr std::size_t kJsonCharacters = 200;  // of a text that an argument points to

// What writes arguments as the word says; null for an empty one.
std::shared_ptr<ArgumentText> argument_text(const ThreadsReport& report, const std::string& word,
                                            std::size_t characters) {
  constexpr std::pair<std::string_view, ArgumentDisplay> kWords[] = {
      {"values", ArgumentDisplay::values},
      {"presence", ArgumentDisplay::presence},
      {"none", ArgumentDisplay::none}};
  for (const auto& [name, display] : kWords) {
    if (word == name) {
      return std::make_shared<ArgumentText>(report.session->values, *report.session->symbolizer,
                                            ArgumentForm{display, characters});
    }
  }
  if (!word.empty()) {
    throw py::value_error("arguments are shown as values, presence or none, not " + word);
  }
  return nullptr;
}

// `wanted` are attributes of Python's TextForm.
Blocks<ThreadsText> text_of(const std::shared_ptr<ThreadsReport>& report, const py::object& wanted,
                            const std::map<std::string, std::string>& style) {
  const auto code = [&](const char* role) {
    const auto found = style.find(role);
    return found != style.end() ? found->second : std::string();
  };
  const auto is_wanted = [&](const char* name) { return wanted.attr(name).cast<bool>(); };
  const ProcessImage& image = *report->session->image;
  const auto columns = wanted.attr("columns").cast<std::size_t>();
  const auto characters = wanted.attr("characters").cast<std::size_t>();
  const auto arguments =
      argument_text(*report, wanted.attr("arguments").cast<std::string>(),
                    columns != 0 ? std::min(characters, columns / 2) : characters);
  ThreadsForm form{.titles = is_wanted("every_thread"),
                   .inferior = wanted.attr("inferior").cast<std::string>(),
                   .last_words = wanted.attr("last_words").cast<std::string>()};
  form.files = file_display(wanted.attr("files").cast<std::string>());
  form.modules = image.modules;
  form.lines = {.fold = is_wanted("fold"),
                .explain = is_wanted("explain"),
                .addresses = is_wanted("addresses"),
                .places = is_wanted("places"),
                .stack = is_wanted("full") ? image.memory.get() : nullptr,
                .arguments = arguments.get(),
                .paint = {.title = code("title"),
                          .function = code("function"),
                          .filename = code("filename"),
                          .address = code("address"),
                          .metadata = code("metadata"),
                          .highlight = code("highlight")},
                .columns = columns};
  return {report, ThreadsText(report->traces, report->arch(), std::move(form)), arguments};
}

Blocks<ThreadsJson> json_of(const std::shared_ptr<ThreadsReport>& report, std::size_t margin,
                            bool with_arguments, const std::string& last_words) {
  const auto arguments = argument_text(*report, with_arguments ? "values" : "", kJsonCharacters);
  return {report, ThreadsJson(report->traces, margin, arguments.get(), last_words), arguments};
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

StopReason stop_reason(const std::string& word) {
  for (unsigned i = 0; i <= static_cast<unsigned>(StopReason::count); ++i) {
    if (to_string(static_cast<StopReason>(i)) == word) {
      return static_cast<StopReason>(i);
    }
  }
  throw py::value_error("a walk does not end for the reason " + word);
}

// Frames of a walk that are shown, the head of their thread, and why they end.
using Shown = std::tuple<std::shared_ptr<FinishedWalk>, py::object, std::int64_t, bool, std::string,
                         std::string, py::str>;

std::shared_ptr<ThreadsReport> report_of(const std::vector<Shown>& shown) {
  auto report = std::make_shared<ThreadsReport>();
  for (const auto& [walk, range, number, crashed, signal, reason, detail] : shown) {
    if (report->session != nullptr && report->session != walk->session) {
      throw py::value_error("the backtraces of a report are of one process");
    }
    report->session = walk->session;
    report->walks.push_back(walk);
    report->traces.push_back({.thread = &walk->session->image->threads[walk->thread],
                              .walk = &walk->frames,
                              .shown = range_of(*walk, range),
                              .stop = {stop_reason(reason), bytes_of_text(detail)},
                              .head = {number, crashed, signal},
                              .process = walk->session->image.get(),
                              .values = &walk->session->values});
  }
  if (report->session == nullptr) {
    throw py::value_error("a report has at least one backtrace");
  }
  return report;
}

// Which threads are told together.
std::vector<std::vector<std::size_t>> groups_of(const ThreadsReport& report) {
  return group_stacks(report.traces, true);
}

// How many frames of the thread of this number rest on a search; empty where none does.
std::string resting_of(const ThreadsReport& report, std::size_t number) {
  return resting_line(report.traces.at(number));
}

// What other texts and pages say as backtraces do.
void bind_words(py::module_& module) {
  module.def(
      "stop_line",
      [](const std::string& reason, const py::str& detail) {
        return text(stop_line({stop_reason(reason), bytes_of_text(detail)}));
      },
      py::arg("reason"), py::arg("detail"));
  module.def(
      "end_phrase",
      [](const std::string& reason, const py::str& detail) {
        return text(end_phrase({stop_reason(reason), bytes_of_text(detail)}));
      },
      py::arg("reason"), py::arg("detail"));
  module.def(
      "title_line",
      [](const std::vector<std::int64_t>& numbers, const std::vector<std::int64_t>& lwps,
         const py::str& name, const std::string& signal, const std::string& inferior) {
        const std::string bytes = bytes_of_text(name);
        return text(title_line({numbers, lwps, bytes, signal, inferior}));
      },
      py::arg("numbers"), py::arg("lwps"), py::arg("name"), py::arg("signal"), py::arg("inferior"));
  module.def("number_runs",
             [](const std::vector<std::int64_t>& values) { return number_runs(values); });
}

}  // namespace

void bind_report(py::class_<Process>& process, py::module_& module) {
  Blocks<ThreadsText>::bind(module, "TextBlocks");
  Blocks<ThreadsJson>::bind(module, "JsonBlocks");
  py::class_<ThreadsReport, std::shared_ptr<ThreadsReport>>(module, "ThreadsReport")
      .def(py::init(&report_of), py::arg("shown"))
      .def("__len__", [](const ThreadsReport& report) { return report.traces.size(); })
      .def("trace", &trace_of, py::arg("number"))
      .def("frames_by_module", &frames_by_module)
      .def("groups", &groups_of)
      .def("resting", &resting_of, py::arg("number"))
      .def("text", &text_of, py::arg("form"), py::arg("style"))
      .def("json", &json_of, py::arg("margin"), py::arg("arguments"), py::arg("last_words"));
  bind_words(module);
  process.def_property_readonly("thread_heads", &thread_heads);
  process.def("walk_threads", &walk_threads, py::arg("heads"), py::arg("options"),
              py::arg("count") = py::none());
}

}  // namespace whocall::python
