#include "python/frame_fields.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "python/convert.h"
#include "python/hint_tuples.h"
#include "report/form/source_hints.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

template <typename Number>
py::object number_or_none(const std::optional<Number>& value) {
  return value ? py::object(py::int_(*value)) : py::object(py::none());
}

py::object tuple_of(const std::vector<std::string>& names, Session& session) {
  py::tuple made(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    made[i] = names[i].empty() ? py::object(py::str()) : session.texts.get(names[i]);
  }
  return made;
}

py::object evidence(const FrameFacts& facts, Session& session) {
  std::size_t which = 0;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Evidence::damaged_return); ++i) {
    which |= std::size_t{facts.frame().evidence.has(static_cast<Evidence>(i))} << i;
  }
  py::object& kept = session.evidence.at(which);
  if (!kept) {
    const std::vector<Evidence> items = facts.frame().evidence.list();
    py::tuple made(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      made[i] = text(to_string(items[i]));
    }
    kept = std::move(made);
  }
  return kept;
}

py::object registers(const FrameFacts& facts, Session& session) {
  const FrameDetails* const details = facts.details();
  return details != nullptr && details->registers
             ? py::object(register_dict(*details->registers, *session.image->arch))
             : py::object(py::none());
}

// The stack words that hold the caller's registers: the registers' names by address. None where
// registers were not asked for.
py::object saved(const FrameFacts& facts, Session& session) {
  const FrameDetails* const details = facts.details();
  if (details == nullptr || !details->registers) {
    return py::none();
  }
  const auto& names = session.image->arch->registers.names;
  py::dict found;
  for (const SavedWord& word : details->saved) {
    if (word.number < names.size()) {
      found[py::int_(word.address)] = py::str(names[word.number]);
    }
  }
  return found;
}

py::object line(const FrameFacts& facts, Session& /*session*/) {
  const unsigned number = facts.named().line();
  return number != 0 ? py::object(py::int_(number)) : py::object(py::none());
}

using Facts = const FrameFacts&;
constexpr std::array kFields{
    FrameField{"level",
               [](Facts of, Session&) -> py::object { return py::int_(of.named().level); }},
    FrameField{"pc", [](Facts of, Session&) -> py::object { return py::int_(of.frame().pc); }},
    FrameField{"sp", [](Facts of, Session&) -> py::object { return py::int_(of.frame().sp); }},
    FrameField{"cfa", [](Facts of, Session&) { return number_or_none(of.cfa()); }},
    FrameField{"function",
               [](Facts of, Session& in) { return in.texts.get(of.named().function()); }},
    FrameField{"offset", [](Facts of, Session&) { return number_or_none(of.offset()); }},
    FrameField{"name_source", [](Facts of, Session& in) { return in.texts.get(of.name_source()); }},
    FrameField{"inferred",
               [](Facts of, Session&) -> py::object { return py::bool_(of.inferred()); }},
    FrameField{"aliases", [](Facts of, Session& in) { return tuple_of(of.aliases(), in); }},
    FrameField{"module", [](Facts of, Session& in) { return in.texts.get(of.module()); }},
    FrameField{"build_id", [](Facts of, Session& in) { return in.texts.get(of.build_id()); }},
    FrameField{"rva", [](Facts of, Session&) { return number_or_none(of.rva()); }},
    FrameField{"trust",
               [](Facts of, Session& in) { return in.texts.get(to_string(of.frame().trust)); }},
    FrameField{"rests_on", [](Facts of, Session&) { return number_or_none(of.rests_on()); }},
    FrameField{"searched", [](Facts of, Session&) { return number_or_none(of.searched()); }},
    FrameField{"evidence", &evidence},
    FrameField{"inlined",
               [](Facts of, Session&) -> py::object { return py::bool_(of.named().inlined()); }},
    FrameField{"interrupted",
               [](Facts of, Session&) -> py::object { return py::bool_(of.frame().interrupted); }},
    FrameField{
        "signal_trampoline",
        [](Facts of, Session&) -> py::object { return py::bool_(of.frame().signal_trampoline); }},
    FrameField{"file", [](Facts of, Session& in) { return in.texts.get(of.named().file()); }},
    FrameField{"line", &line},
    FrameField{
        "source_hints",
        [](Facts of, Session&) -> py::object { return hint_tuples(source_hints(of.named())); }},
    FrameField{"explanation", [](Facts of, Session&) { return text_or_none(of.explanation()); }},
    FrameField{"registers", &registers},
    FrameField{"saved", &saved},
};

}  // namespace

const FrameField& frame_field(const std::string& name) {
  const auto* const found =
      std::ranges::find_if(kFields, [&](const FrameField& field) { return name == field.name; });
  if (found == kFields.end()) {
    throw py::value_error("frames have no field \"" + name + "\"");
  }
  return *found;
}

FrameFields::FrameFields(const std::vector<std::string>& names) {
  std::ranges::transform(names, std::back_inserter(fields_), &frame_field);
}

py::tuple FrameFields::row(const FrameFacts& facts, Session& session) const {
  py::tuple made(fields_.size());
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i),
                     fields_[i].value(facts, session).release().ptr());
  }
  return made;
}

FrameClass::FrameClass(py::type type) : type_(std::move(type)) {
  for (const auto& name : type_.attr("__slots__")) {
    py::object descriptor = type_.attr(name);
    if (Py_TYPE(descriptor.ptr()) != &PyMemberDescr_Type) {
      throw py::type_error("the slots of a class of frames are slots and nothing else");
    }
    slots_.push_back({frame_field(name.cast<std::string>()), std::move(descriptor)});
  }
}

py::object FrameClass::make(const FrameFacts& facts, Session& session) const {
  auto* const type = reinterpret_cast<PyTypeObject*>(type_.ptr());
  auto made = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
  if (!made) {
    throw py::error_already_set();
  }
  for (const Slot& slot : slots_) {
    // The descriptor itself sets it also where the class says that its objects never change.
    const py::object value = slot.field.value(facts, session);
    if (PyMemberDescr_Type.tp_descr_set(slot.descriptor.ptr(), made.ptr(), value.ptr()) != 0) {
      throw py::error_already_set();
    }
  }
  return made;
}

}  // namespace whocall::python
