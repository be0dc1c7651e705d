// Walk options, frames and backtraces.
#include "python/bind_backtrace.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "base/hex.h"
#include "python/convert.h"
#include "symbols/table/demangler.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

std::string module_name(const FrameView& view) {
  const Module* module = view.place().module;
  return module != nullptr ? module->path : std::string();
}

std::string build_id(const FrameView& view) {
  const Module* module = view.place().module;
  return module != nullptr ? module->build_id() : std::string();
}

std::optional<Address> rva(const FrameView& view) {
  const Module* module = view.place().module;
  return module != nullptr ? std::optional(module->link_address(view.frame().pc)) : std::nullopt;
}

std::optional<Address> offset(const FrameView& view) {
  const auto& function = view.place().function;
  // Code without a module stands at runtime addresses.
  return function ? std::optional(rva(view).value_or(view.frame().pc) - function->start)
                  : std::nullopt;
}

std::string_view name_source(const FrameView& view) {
  const auto& function = view.place().function;
  if (view.named().inlined || (!function && !view.named().function.empty())) {
    return "debug-info";
  }
  return function ? to_string(function->source) : std::string_view();
}

std::vector<std::string> evidence(const FrameView& view) {
  std::vector<std::string> words;
  for (const Evidence item : view.frame().evidence.list()) {
    words.emplace_back(to_string(item));
  }
  return words;
}

// Equal functions may have been folded into one, and one function may have several names.
std::string other_names(const std::vector<std::string>& aliases) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(aliases.size(), kMost); ++i) {
    text += (i == 0 ? " The same code is also named " : ", ") + demangle(aliases[i]);
  }
  if (aliases.size() > kMost) {
    text += " and " + std::to_string(aliases.size() - kMost) + " times more";
  }
  return text.empty() ? text : text + ".";
}

// How the frame was found, and why it has not the name that other debuggers would give it.
std::string explanation(const FrameView& view) {
  std::string text = view.frame().explanation;
  if (text.empty() || view.named().inlined) {
    return text;
  }
  const Place& place = view.place();
  if (place.function && !place.function->proof.empty()) {
    text += " The name is by " + place.function->proof + ".";
  }
  if (place.function) {
    text += other_names(place.function->aliases);
  }
  if (const auto& refused = place.refused) {
    text += " The nearest symbol, " + refused->name + " (" +
            std::string(to_string(refused->source)) + ") at " + hex(refused->start) +
            ", does not lend its name: " + refused->reason + ".";
  }
  return text;
}

py::object registers(const FrameView& view) {
  const auto& values = view.frame().registers;
  return values ? py::object(register_dict(*values, *view.walk->session->image->arch))
                : py::object(py::none());
}

// The stack words that hold the caller's registers: the registers' names by address.
py::dict saved(const FrameView& view) {
  py::dict names;
  for (const SavedWord& word : view.frame().saved) {
    const Architecture& arch = *view.walk->session->image->arch;
    if (word.number < arch.registers.names.size()) {
      names[py::int_(word.address)] = py::str(arch.registers.names[word.number]);
    }
  }
  return names;
}

WalkRequest make_request(const std::vector<std::string>& without, std::size_t max_frames,
                         bool explain, bool with_registers, bool lines, bool demangle,
                         bool past_main) {
  const auto known = strategy_names();
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

void bind_frame(py::module_& module) {
  py::class_<FrameView>(module, "Frame")
      .def_property_readonly("level", [](const FrameView& view) { return view.named().level; })
      .def_property_readonly("pc", [](const FrameView& view) { return view.frame().pc; })
      .def_property_readonly("sp", [](const FrameView& view) { return view.frame().sp; })
      .def_property_readonly("cfa",
                             [](const FrameView& view) {
                               const Address cfa = view.frame().cfa;
                               return cfa != 0 ? std::optional(cfa) : std::nullopt;
                             })
      .def_property_readonly(
          "function", [](const FrameView& view) { return text_or_none(view.named().function); })
      .def_property_readonly("offset", &offset)
      .def_property_readonly("name_source",
                             [](const FrameView& view) { return text_or_none(name_source(view)); })
      .def_property_readonly(
          "aliases",
          [](const FrameView& view) {
            const auto& function = view.place().function;
            return function && !view.named().inlined ? text_list(function->aliases) : py::list();
          })
      .def_property_readonly("inferred",
                             [](const FrameView& view) {
                               const auto& function = view.place().function;
                               return name_source(view) != "debug-info" && function &&
                                      is_inferred(function->source);
                             })
      .def_property_readonly("module",
                             [](const FrameView& view) { return text_or_none(module_name(view)); })
      .def_property_readonly("build_id",
                             [](const FrameView& view) { return text_or_none(build_id(view)); })
      .def_property_readonly("rva", &rva)
      .def_property_readonly("trust",
                             [](const FrameView& view) { return to_string(view.frame().trust); })
      .def_property_readonly("rests_on", &FrameView::rests_on)
      .def_property_readonly("evidence", &evidence)
      .def_property_readonly("inlined", [](const FrameView& view) { return view.named().inlined; })
      .def_property_readonly("interrupted",
                             [](const FrameView& view) { return view.frame().interrupted; })
      .def_property_readonly("signal_trampoline",
                             [](const FrameView& view) { return view.frame().signal_trampoline; })
      .def_property_readonly("file",
                             [](const FrameView& view) { return text_or_none(view.named().file); })
      .def_property_readonly("line",
                             [](const FrameView& view) {
                               const unsigned line = view.named().line;
                               return line != 0 ? std::optional(line) : std::nullopt;
                             })
      .def_property_readonly("explanation",
                             [](const FrameView& view) { return text_or_none(explanation(view)); })
      .def_property_readonly("registers", &registers)
      .def_property_readonly("saved", &saved);
}

std::vector<std::size_t> searched_levels(const std::vector<NamedFrame>& frames) {
  std::vector<std::size_t> levels;
  for (const NamedFrame& frame : frames) {
    if (frame.frame->trust == Trust::scan) {
      levels.push_back(frame.level);
    }
  }
  return levels;
}

}  // namespace

std::optional<std::size_t> FrameView::rests_on() const {
  std::size_t first = index;
  while (first > 0 && walk->named[first - 1].inlined) {
    --first;
  }
  const auto next = std::ranges::lower_bound(walk->searched, first);
  return next != walk->searched.begin() ? std::optional(*std::prev(next)) : std::nullopt;
}

void bind_backtrace(py::module_& module) {
  py::class_<WalkRequest>(module, "WalkOptions")
      .def(py::init(&make_request), py::arg("without") = std::vector<std::string>(),
           py::arg("max_frames") = WalkOptions().max_frames, py::arg("explain") = false,
           py::arg("registers") = false, py::arg("lines") = true, py::arg("demangle") = true,
           py::arg("past_main") = true);
  bind_frame(module);
  py::class_<FinishedWalk, std::shared_ptr<FinishedWalk>>(module, "Backtrace")
      .def("__len__", [](const FinishedWalk& walk) { return walk.named.size(); })
      .def("__getitem__",
           [](const std::shared_ptr<FinishedWalk>& walk, std::size_t index) {
             if (index >= walk->named.size()) {
               throw py::index_error("there is no frame of this number");
             }
             return FrameView{walk, index};
           })
      .def_property_readonly(
          "stop_reason",
          [](const FinishedWalk& walk) { return to_string(walk.backtrace.stop.reason); })
      .def_property_readonly(
          "stop_detail", [](const FinishedWalk& walk) { return text(walk.backtrace.stop.detail); });
  module.def("strategies", &strategy_names);
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
  auto walk = std::make_shared<FinishedWalk>();
  walk->session = session;
  walk->backtrace = session->walker.walk(session->image->threads[thread], options);
  walk->named =
      name_frames(walk->backtrace, *session->symbolizer, request.names, request.past_main);
  walk->searched = searched_levels(walk->named);
  return walk;
}

}  // namespace whocall::python
