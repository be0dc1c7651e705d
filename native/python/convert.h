// Small conversions that several bindings share.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arch/architecture.h"

namespace whocall::python {

// Bytes that a file or process gave need not be UTF-8: what is not is kept as Python keeps it in
// names of files, a surrogate a byte.
inline pybind11::str text(std::string_view bytes) {
  return pybind11::reinterpret_steal<pybind11::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

// The bytes that such a text was made of.
inline std::string bytes_of_text(pybind11::handle text) {
  const auto bytes = pybind11::reinterpret_steal<pybind11::bytes>(
      PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!bytes) {
    throw pybind11::error_already_set();
  }
  return bytes;
}

// None for an empty string.
inline pybind11::object text_or_none(std::string_view bytes) {
  return bytes.empty() ? pybind11::object(pybind11::none()) : pybind11::object(text(bytes));
}

// Texts that come again and again, such as names of functions and modules, made once.
class KeptTexts {
 public:
  // None for an empty string.
  const pybind11::object& get(std::string_view bytes) {
    const auto found = kept_.find(bytes);
    return found != kept_.end() ? found->second
                                : kept_.emplace(bytes, text_or_none(bytes)).first->second;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view bytes) const {
      return std::hash<std::string_view>()(bytes);
    }
  };
  std::unordered_map<std::string, pybind11::object, Hash, std::equal_to<>> kept_;
};

inline pybind11::list text_list(const std::vector<std::string>& strings) {
  pybind11::list list;
  for (const std::string& bytes : strings) {
    list.append(text(bytes));
  }
  return list;
}

// Known registers by gdb's names.
inline pybind11::dict register_dict(const Registers& registers, const Architecture& arch) {
  pybind11::dict values;
  for (std::size_t number = 0; number < arch.registers.names.size(); ++number) {
    const auto value = registers.get(static_cast<Register>(number));
    if (value && !arch.registers.names[number].empty()) {
      values[text(arch.registers.names[number])] = *value;
    }
  }
  return values;
}

inline std::span<const std::byte> bytes_of(const pybind11::buffer_info& info) {
  return {static_cast<const std::byte*>(info.ptr),
          static_cast<std::size_t>(info.size * info.itemsize)};
}

// Its name; None for null.
inline pybind11::object name_or_none(const Architecture* arch) {
  return arch != nullptr ? pybind11::object(text(arch->name)) : pybind11::object(pybind11::none());
}

inline const Architecture& architecture_named(const std::string& name) {
  const Architecture* arch = find_architecture(name);
  if (arch == nullptr) {
    throw pybind11::value_error("there is no instruction set \"" + name + "\"");
  }
  return *arch;
}

// A registers value from a dict by gdb's names; names that the architecture lacks are passed over.
inline Registers registers_from(const pybind11::dict& values, const Architecture& arch) {
  Registers registers;
  for (const auto& [name, value] : values) {
    if (const auto number = arch.register_named(name.cast<std::string>())) {
      registers.set(*number, value.cast<std::uint64_t>() & arch.address_mask());
    }
  }
  return registers;
}

}  // namespace whocall::python
