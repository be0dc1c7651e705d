// Call traces: where they are found, and what is told of them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"
#include "tracing/process_trace.h"
#include "tracing/profile.h"
#include "tracing/trace_json.h"
#include "tracing/trace_source.h"
#include "tracing/trace_text.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

// Keeps alive what the trace's bytes lie in.
struct TraceView {
  std::shared_ptr<const void> owner;
  std::shared_ptr<Trace> trace;
};

struct TraceThreadView {
  std::shared_ptr<const Trace> trace;
  std::size_t index = 0;
  [[nodiscard]] const TraceThread& thread() const { return trace->threads()[index]; }
  [[nodiscard]] const ThreadMeasure& measure() const { return trace->measure(index); }
};

TraceView open_of_process(const Process& process) {
  return {process.session(), std::make_shared<Trace>(find_trace(process.image()))};
}

TraceView open_of_file(const std::string& path) {
  return {nullptr, std::make_shared<Trace>(open_trace_file(path))};
}

std::vector<TraceThreadView> threads_of(const TraceView& view) {
  std::vector<TraceThreadView> threads;
  for (std::size_t index = 0; index < view.trace->threads().size(); ++index) {
    threads.push_back({view.trace, index});
  }
  return threads;
}

using Names = std::unordered_map<Address, py::str>;
using Addresses = std::optional<std::unordered_set<Address>>;

std::unordered_map<Address, std::string> as_bytes(const Names& names) {
  std::unordered_map<Address, std::string> held;
  for (const auto& [address, name] : names) {
    held.emplace(address, bytes_of_text(name));
  }
  return held;
}

// See TracePart.
using PartTuple = std::tuple<std::vector<std::uint64_t>, std::uint64_t, bool>;

// What every form is made of, alive as long as it.
struct Telling {
  std::shared_ptr<const void> owner;
  std::shared_ptr<const Trace> trace;
  std::vector<std::size_t> threads;
  CallChoice choice;
  TraceNames names;
  TracePaint paint;
  TracePart part;
};

std::unique_ptr<Telling> telling_of(const TraceView& view, std::vector<std::size_t> threads,
                                    const Names& functions, const Names& call_sites,
                                    std::optional<std::uint32_t> most_depth, Addresses roots,
                                    Addresses visible, std::uint64_t shortest) {
  for (const std::size_t thread : threads) {
    if (thread >= view.trace->threads().size()) {
      throw py::index_error("there is no thread with this index");
    }
  }
  auto telling = std::make_unique<Telling>();
  telling->owner = view.owner;
  telling->trace = view.trace;
  telling->threads = std::move(threads);
  telling->names = {as_bytes(functions), as_bytes(call_sites)};
  telling->choice.most_depth = most_depth.value_or(~std::uint32_t{0});
  telling->choice.roots = std::move(roots);
  telling->choice.visible = std::move(visible);
  telling->choice.shortest = shortest;
  return telling;
}

// An iterator over what a writer writes of a trace.
template <typename Writer>
class Pieces {
 public:
  explicit Pieces(std::unique_ptr<Telling> telling)
      : telling_(std::move(telling)), writer_(make_writer(*telling_)) {}
  py::str next() {
    const std::string piece = writer_->next();
    if (piece.empty()) {
      throw py::stop_iteration();
    }
    return text(piece);
  }

 private:
  static std::unique_ptr<Writer> make_writer(const Telling& of) {
    if constexpr (std::is_same_v<Writer, TraceText>) {
      return std::make_unique<Writer>(*of.trace, of.threads, of.choice, of.names, of.paint,
                                      of.part);
    } else {
      return std::make_unique<Writer>(*of.trace, of.threads, of.choice, of.names);
    }
  }

  std::unique_ptr<Telling> telling_;
  std::unique_ptr<Writer> writer_;
};

class ProfileView {
 public:
  explicit ProfileView(std::unique_ptr<Telling> telling)
      : telling_(std::move(telling)),
        profile_(*telling_->trace, telling_->threads, telling_->choice) {}

  [[nodiscard]] std::vector<std::tuple<Address, std::uint64_t, std::uint64_t, std::uint64_t>>
  functions() const {
    std::vector<std::tuple<Address, std::uint64_t, std::uint64_t, std::uint64_t>> rows;
    for (const auto& [function, count] : profile_.functions()) {
      rows.emplace_back(function, count.calls, count.total, count.self);
    }
    return rows;
  }
  [[nodiscard]] std::vector<std::tuple<Address, bool, Address, std::uint64_t, std::uint64_t>>
  edges() const {
    std::vector<std::tuple<Address, bool, Address, std::uint64_t, std::uint64_t>> rows;
    for (const auto& [edge, count] : profile_.edges()) {
      rows.emplace_back(edge.from, edge.inlined, edge.callee, count.calls, count.total);
    }
    return rows;
  }
  // Nodes whose total is at least so long, with all that stand around them.
  [[nodiscard]] std::vector<
      std::tuple<std::int64_t, Address, std::uint64_t, std::uint64_t, std::uint64_t>>
  nodes(std::uint64_t least) const {
    const auto& all = profile_.nodes();
    std::vector<std::int64_t> place(all.size(), -1);
    std::vector<std::tuple<std::int64_t, Address, std::uint64_t, std::uint64_t, std::uint64_t>>
        rows;
    for (std::size_t at = 1; at < all.size(); ++at) {
      const ContextNode& node = all[at];
      if (node.count.total >= least && (node.parent == 0 || place[node.parent] >= 0)) {
        place[at] = static_cast<std::int64_t>(rows.size());
        rows.emplace_back(node.parent == 0 ? -1 : place[node.parent], node.function,
                          node.count.calls, node.count.total, node.count.self);
      }
    }
    return rows;
  }
  [[nodiscard]] bool is_folded() const { return profile_.is_folded(); }
  [[nodiscard]] const Profile& profile() const { return profile_; }
  [[nodiscard]] const TraceNames& names() const { return telling_->names; }

 private:
  std::unique_ptr<Telling> telling_;
  Profile profile_;
};

class FoldedPieces {
 public:
  explicit FoldedPieces(std::shared_ptr<ProfileView> profile)
      : profile_(std::move(profile)), stacks_(profile_->profile(), profile_->names().functions) {}
  py::str next() {
    const std::string piece = stacks_.next();
    if (piece.empty()) {
      throw py::stop_iteration();
    }
    return text(piece);
  }

 private:
  std::shared_ptr<ProfileView> profile_;
  FoldedStacks stacks_;
};

template <typename Made>
void bind_pieces(py::module_& module, const char* name) {
  py::class_<Made>(module, name)
      .def(
          "__iter__", [](Made& self) -> Made& { return self; }, py::return_value_policy::reference)
      .def("__next__", &Made::next);
}

void bind_threads(py::module_& module) {
  py::class_<TraceThreadView>(module, "TraceThread")
      .def_property_readonly("pid", [](const TraceThreadView& v) { return v.thread().pid; })
      .def_property_readonly("tid", [](const TraceThreadView& v) { return v.thread().tid; })
      .def_property_readonly("name", [](const TraceThreadView& v) { return text(v.thread().name); })
      .def_property_readonly("lives", [](const TraceThreadView& v) { return v.thread().lives; })
      .def_property_readonly("sees_no_returns",
                             [](const TraceThreadView& v) { return v.thread().sees_no_returns; })
      .def_property_readonly(
          "events",
          [](const TraceThreadView& v) { return v.thread().events - v.thread().first_event; })
      .def_property_readonly("next_event", [](const TraceThreadView& v) { return v.measure().end; })
      .def_property_readonly("registered",
                             [](const TraceThreadView& v) { return v.thread().began.nanoseconds; })
      .def("events_from", [](const TraceThreadView& v,
                             std::uint64_t first) { return v.trace->events_from(v.index, first); })
      .def_property_readonly("serial", [](const TraceThreadView& v) { return v.thread().serial; })
      .def_property_readonly("ring_capacity",
                             [](const TraceThreadView& v) { return v.thread().ring_capacity; })
      .def_property_readonly("lost", [](const TraceThreadView& v) { return v.thread().lost(); })
      .def_property_readonly("calls", [](const TraceThreadView& v) { return v.measure().calls; })
      .def_property_readonly("returns",
                             [](const TraceThreadView& v) { return v.measure().returns; })
      .def_property_readonly("damaged",
                             [](const TraceThreadView& v) { return v.measure().damaged; })
      .def_property_readonly("overflow",
                             [](const TraceThreadView& v) { return v.thread().overflow; })
      .def_property_readonly("began", [](const TraceThreadView& v) { return v.measure().first; })
      .def_property_readonly("ended", [](const TraceThreadView& v) { return v.measure().last; })
      .def_property_readonly("stack", [](const TraceThreadView& v) {
        std::vector<std::tuple<Address, Address, Address, Address>> rows;
        for (const ShadowEntry& entry : v.thread().stack) {
          rows.emplace_back(entry.function, entry.call_site, entry.sp, entry.cfa);
        }
        return rows;
      });
}

void bind_trace(py::class_<TraceView>& trace) {
  trace.def_property_readonly("threads", &threads_of)
      .def_property_readonly(
          "remarks", [](const TraceView& view) { return text_list(view.trace->source().remarks); })
      .def_property_readonly(
          "maps", [](const TraceView& view) { return py::bytes(view.trace->source().maps); })
      .def_property_readonly(
          "arch", [](const TraceView& view) { return name_or_none(view.trace->source().arch); })
      .def_property_readonly("origin", [](const TraceView& view) { return view.trace->origin(); })
      .def_property_readonly("functions",
                             [](const TraceView& view) { return view.trace->functions(); })
      .def("tell_homes", [](const TraceView& view,
                            FunctionHomes homes) { view.trace->tell_homes(std::move(homes)); })
      .def_property_readonly("call_sites",
                             [](const TraceView& view) { return view.trace->call_sites(); });
}

}  // namespace

void bind_tracing(py::module_& module) {
  bind_threads(module);
  bind_pieces<Pieces<TraceText>>(module, "TraceTextPieces");
  bind_pieces<Pieces<TraceJson>>(module, "TraceJsonPieces");
  bind_pieces<FoldedPieces>(module, "FoldedPieces");
  py::class_<ProfileView, std::shared_ptr<ProfileView>>(module, "TraceProfile")
      .def_property_readonly("functions", &ProfileView::functions)
      .def_property_readonly("edges", &ProfileView::edges)
      .def_property_readonly("is_folded", &ProfileView::is_folded)
      .def("nodes", &ProfileView::nodes, py::arg("least"))
      .def("folded", [](std::shared_ptr<ProfileView> view) {
        return std::make_unique<FoldedPieces>(std::move(view));
      });
  py::class_<TraceView> trace(module, "Trace");
  bind_trace(trace);
  trace.def(
      "text",
      [](const TraceView& view, std::vector<std::size_t> threads, const Names& functions,
         const Names& call_sites, std::optional<std::uint32_t> most_depth, Addresses roots,
         Addresses visible, std::uint64_t shortest, const std::vector<std::string>& paint,
         PartTuple part) {
        auto telling = telling_of(view, std::move(threads), functions, call_sites, most_depth,
                                  std::move(roots), std::move(visible), shortest);
        if (paint.size() == 4) {
          telling->paint = {paint[0], paint[1], paint[2], paint[3]};
        }
        telling->part = {std::move(std::get<0>(part)), std::get<1>(part), std::get<2>(part)};
        return std::make_unique<Pieces<TraceText>>(std::move(telling));
      },
      py::arg("threads"), py::arg("functions"), py::arg("call_sites"),
      py::arg("most_depth") = py::none(), py::arg("roots") = py::none(),
      py::arg("visible") = py::none(), py::arg("shortest") = 0,
      py::arg("paint") = std::vector<std::string>(), py::arg("part") = PartTuple());
  const auto with_choice = [&trace](const char* name, auto make) {
    trace.def(
        name,
        [make](const TraceView& view, std::vector<std::size_t> threads, const Names& functions,
               const Names& call_sites, std::optional<std::uint32_t> most_depth, Addresses roots,
               Addresses visible, std::uint64_t shortest) {
          return make(telling_of(view, std::move(threads), functions, call_sites, most_depth,
                                 std::move(roots), std::move(visible), shortest));
        },
        py::arg("threads"), py::arg("functions"), py::arg("call_sites"),
        py::arg("most_depth") = py::none(), py::arg("roots") = py::none(),
        py::arg("visible") = py::none(), py::arg("shortest") = 0);
  };
  with_choice("json",
              [](auto telling) { return std::make_unique<Pieces<TraceJson>>(std::move(telling)); });
  with_choice("profile",
              [](auto telling) { return std::make_shared<ProfileView>(std::move(telling)); });
  module.def("trace_of_process", &open_of_process, py::arg("process"));
  module.def("trace_of_file", &open_of_file, py::arg("path"));
  module.def("is_trace_file", &is_trace_file, py::arg("path"));
}

}  // namespace whocall::python
