// The moment of a crash, and what it proves.
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "python/bind_backtrace.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"
#include "report/causes/causes.h"
#include "report/causes/fault_access.h"
#include "report/causes/referred_texts.h"
#include "report/causes/stack_end.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

// What a scene looks at lives as long as it.
struct HeldScene {
  HeldScene(std::shared_ptr<FinishedWalk> walked, std::string name)
      : walk(std::move(walked)),
        signal(std::move(name)),
        scene(*walk->session->image, walk->session->image->threads[walk->thread], walk->frames,
              signal, &walk->session->values) {}

  std::shared_ptr<FinishedWalk> walk;
  std::string signal;
  Scene scene;
};

std::optional<std::pair<Address, py::str>> fault_of(const HeldScene& held) {
  const auto& fault = held.scene.fault();
  return fault ? std::optional(std::pair(fault->address, text(fault->proof))) : std::nullopt;
}

std::optional<std::pair<std::string_view, std::uint64_t>> access_of_fault(const HeldScene& held) {
  const auto access = fault_access(held.scene);
  return access ? std::optional(std::pair(to_string(access->verb), access->size)) : std::nullopt;
}

using AccessRow = std::tuple<Address, std::uint64_t, std::optional<bool>>;

std::vector<AccessRow> accesses_of(const HeldScene& held) {
  std::vector<AccessRow> rows;
  for (const Access& each : held.scene.accesses()) {
    rows.emplace_back(each.address, each.size, each.written());
  }
  return rows;
}

// Whether the instruction writes each of its operands in memory.
std::vector<std::optional<bool>> writes_of(const HeldScene& held) {
  std::vector<std::optional<bool>> found;
  const auto& operation = held.scene.operation();
  for (std::size_t i = 0; operation && i < operation->operands.size(); ++i) {
    if (operation->operands[i].kind == Operand::Kind::memory) {
      found.push_back(writes_operand(held.scene.arch(), *operation, i));
    }
  }
  return found;
}

std::optional<std::pair<Address, Address>> used_up_of(const HeldScene& held) {
  const auto stack = used_up_stack(held.scene);
  return stack ? std::optional(std::pair(stack->begin, stack->end)) : std::nullopt;
}

py::list scene_facts_of(const HeldScene& held) {
  py::list facts;
  for (const Fact& fact : causes(held.scene)) {
    facts.append(py::make_tuple(text(fact.kind), text(fact.text), text(fact.proof)));
  }
  return facts;
}

std::optional<std::size_t> referred_text_of(const HeldScene& held, std::size_t level,
                                            const std::vector<std::string>& wanted) {
  return referred_text(held.scene, level, wanted);
}

}  // namespace

void bind_scene(py::class_<Process>& process, py::module_& module) {
  py::class_<HeldScene>(module, "Scene")
      .def_property_readonly("code", [](const HeldScene& held) { return held.scene.code(); })
      .def_property_readonly("fault", &fault_of)
      .def_property_readonly("fault_access", &access_of_fault)
      .def_property_readonly("is_nowhere",
                             [](const HeldScene& held) { return held.scene.is_nowhere(); })
      .def_property_readonly(
          "instruction",
          [](const HeldScene& held) { return text_or_none(held.scene.instruction()); })
      .def_property_readonly(
          "meaning", [](const HeldScene& held) { return text_or_none(held.scene.meaning()); })
      .def_property_readonly("was_sent",
                             [](const HeldScene& held) { return held.scene.was_sent(); })
      .def_property_readonly("sender", [](const HeldScene& held) { return held.scene.sender(); })
      .def_property_readonly("accesses", &accesses_of)
      .def_property_readonly("writes", &writes_of)
      .def_property_readonly("operand", [](const HeldScene& held) { return held.scene.operand(); })
      .def_property_readonly("used_up_stack", &used_up_of)
      .def_property_readonly("may_be_used_up",
                             [](const HeldScene& held) { return may_be_used_up(held.scene); })
      .def("facts", &scene_facts_of)
      .def("referred_text", &referred_text_of, py::arg("level"), py::arg("wanted"));
  process.def(
      "scene",
      [](const Process&, std::shared_ptr<FinishedWalk> walk, std::string signal) {
        return std::make_unique<HeldScene>(std::move(walk), std::move(signal));
      },
      py::arg("walk"), py::arg("signal"));
}

}  // namespace whocall::python
