// Disassembly around a place of a process.
#include <elf.h>
#include <pybind11/stl.h>

#include "object/elf_symbols.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"
#include "report/form/listing.h"
#include "report/form/operations.h"
#include "symbols/table/demangler.h"
#include "symbols/table/plt_symbols.h"

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

std::string_view word_for(Operation::Flow flow) {
  switch (flow) {
    case Operation::Flow::call:
      return "call";
    case Operation::Flow::jump:
      return "jump";
    case Operation::Flow::leave:
      return "leave";
    default:
      return "next";
  }
}

py::tuple operand_tuple(const Operand& operand) {
  const auto kind = static_cast<unsigned>(operand.kind);
  const unsigned access = (operand.read ? 1U : 0U) | (operand.written ? 2U : 0U);
  return py::make_tuple(kind, access, operand.size, operand.reg, operand.index, operand.scale,
                        operand.segment, operand.value);
}

py::list operations(const Process& process, Address begin, std::size_t size, std::size_t most) {
  py::list rows;
  for (const Operation& item : list_operations(process.image(), begin, size, most)) {
    py::list operands;
    for (const Operand& operand : item.operands) {
      operands.append(operand_tuple(operand));
    }
    rows.append(py::make_tuple(item.address, item.size, word_for(item.flow), item.mnemonic,
                               item.operands_text, operands));
  }
  return rows;
}

// The name of the function at an address by symbols alone, and how far into it that is (bytes); a
// miss where none tells its end. No code is looked at: it may be asked of thousands of words.
py::object found_symbol(const Process& process, Address address) {
  const auto& session = process.session();
  const Module* module = process.image().module_at(address);
  if (module == nullptr || module->file == nullptr) {
    return py::none();
  }
  FileSymbols& names = *session->symbolizer->symbols_of(*module);
  const Address link = module->link_address(address);
  const bool in_plt = is_in_plt(*module->file, link);
  const auto table = in_plt ? names.table_with_plt() : names.table();
  const std::uint32_t index = table->find(link);
  if (index == SymbolTable::kNone) {
    return py::none();
  }
  const Symbol symbol = table->symbols()[index];
  if (symbol.name.empty() || !(symbol.exact_end || in_plt)) {
    return py::none();
  }
  return py::make_tuple(text(demangle(symbol.name)), link - symbol.range.begin);
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
      .def("operations", &operations, py::arg("begin"), py::arg("size"), py::arg("most"))
      .def("symbol_at", &found_symbol, py::arg("address"))
      .def("variable", &variable, py::arg("module"), py::arg("name"));
}

}  // namespace whocall::python
