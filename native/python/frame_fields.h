// What Python can ask of a frame, by name.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "python/session.h"
#include "report/form/named_walk.h"

namespace whocall::python {

struct FrameField {
  const char* name;
  pybind11::object (*value)(const FrameFacts& facts, Session& session);
};

// Throws Python's ValueError where there is no such field.
const FrameField& frame_field(const std::string& name);

// Several fields, looked up once.
class FrameFields {
 public:
  explicit FrameFields(const std::vector<std::string>& names);

  // A tuple of their values.
  [[nodiscard]] pybind11::tuple row(const FrameFacts& facts, Session& session) const;

 private:
  std::vector<FrameField> fields_;
};

// A class of Python's whose __slots__ are fields of frames; its objects are made without a call of
// its __init__, which would cost more than all values together.
class FrameClass {
 public:
  // Throws Python's TypeError where `type` is not so made.
  explicit FrameClass(pybind11::type type);

  [[nodiscard]] pybind11::object make(const FrameFacts& facts, Session& session) const;

 private:
  struct Slot {
    FrameField field;
    pybind11::object descriptor;
  };
  pybind11::type type_;
  std::vector<Slot> slots_;
};

}  // namespace whocall::python
