#include "python/bind_listing.h"

#include <elf.h>
#include <pybind11/stl.h>

#include "object/elf_symbols.h"
#include "python/convert.h"
#include "report/listing.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

py::list listing(const Process& process, Address at, std::optional<Address> start,
                 std::size_t before, std::size_t after) {
  const ListingRequest request{.at = at, .start = start, .before = before, .after = after};
  py::list lines;
  for (const ListedInstruction& item : list_instructions(process.image(), request)) {
    lines.append(py::make_tuple(item.address, py::bytes(item.bytes), text(item.text), item.target));
  }
  return lines;
}

// Of a variable that a module's symbol tables name; a miss where they do not.
std::optional<Address> variable(const Process& process, std::size_t index,
                                const std::string& name) {
  const auto& modules = process.image().modules;
  if (index >= modules.size() || modules[index].file == nullptr) {
    return std::nullopt;
  }
  const Module& module = modules[index];
  for (const auto& symbols : {dynamic_symbols(*module.file), static_symbols(*module.file)}) {
    for (const ElfSymbol& symbol : symbols) {
      if (symbol.type == STT_OBJECT && symbol.section != SHN_UNDEF && symbol.name == name) {
        return module.runtime_address(symbol.value);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void bind_listing(py::class_<Process>& process) {
  process
      .def("listing", &listing, py::arg("at"), py::arg("start") = py::none(),
           py::arg("before") = 12, py::arg("after") = 6)
      .def("variable", &variable, py::arg("module"), py::arg("name"));
}

}  // namespace whocall::python
