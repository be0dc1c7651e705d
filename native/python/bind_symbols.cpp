// Function tables: single and batched look-ups, and the table of any object file.
#include "python/bind_symbols.h"

#include <pybind11/stl.h>

#include <cstring>
#include <utility>

#include "arch/elf_machine.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/printable_text.h"
#include "object/bfd_library.h"
#include "object/dwarf_library.h"
#include "object/open_files.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "report/short_names.h"
#include "symbols/table/bfd_table.h"
#include "symbols/table/demangler.h"
#include "symbols/table/function_label.h"
#include "symbols/table/plt_symbols.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

struct SymbolView {
  std::shared_ptr<const SymbolTable> table;  // owns the name
  Symbol symbol;
  [[nodiscard]] std::string name() const {
    return symbol.name.empty() ? unnamed_function(symbol.range.begin) : std::string(symbol.name);
  }
};

SymbolView symbol_at(const TableView& view, std::int64_t index) {
  const auto symbols = view.table->symbols();
  const auto size = static_cast<std::int64_t>(symbols.size());
  const std::int64_t position = index < 0 ? index + size : index;
  if (position < 0 || position >= size) {
    throw py::index_error("the table has " + std::to_string(size) + " symbols");
  }
  return {view.table, symbols[static_cast<std::size_t>(position)]};
}

std::optional<std::uint32_t> find_one(const TableView& view, Address address) {
  const std::uint32_t index = view.table->find(address);
  return index == SymbolTable::kNone ? std::nullopt : std::optional(index);
}

std::vector<Address> addresses_in(const py::sequence& list) {
  std::vector<Address> addresses;
  addresses.reserve(list.size());
  for (const auto& each : list) {
    const unsigned long long address = PyLong_AsUnsignedLongLong(each.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw py::value_error("the list has to hold addresses, numbers from 0 to 2**64 - 1");
    }
    addresses.push_back(address);
  }
  return addresses;
}

py::bytes found_in(const TableView& view, std::span<const Address> wanted) {
  std::vector<std::uint32_t> found(wanted.size());
  view.table->find(wanted, found);
  return {reinterpret_cast<const char*>(found.data()), found.size() * sizeof(std::uint32_t)};
}

// Takes any object, so that no complaint of pybind11's prints a million addresses.
py::bytes find_many(const TableView& view, const py::object& addresses) {
  if (py::isinstance<py::list>(addresses) || py::isinstance<py::tuple>(addresses)) {
    return found_in(view, addresses_in(addresses.cast<py::sequence>()));
  }
  if (!py::isinstance<py::buffer>(addresses)) {
    throw py::type_error("addresses are a list, or a buffer of 8-byte numbers");
  }
  const py::buffer_info info = addresses.cast<py::buffer>().request();
  if (info.itemsize != sizeof(Address) || info.ndim != 1 || info.strides[0] != sizeof(Address)) {
    throw py::value_error("the buffer has to hold 8-byte addresses, one after the other");
  }
  return found_in(view,
                  {static_cast<const Address*>(info.ptr), static_cast<std::size_t>(info.size)});
}

std::vector<SymbolView> aliases(const TableView& view, std::uint32_t index) {
  if (index >= view.table->symbols().size()) {
    throw py::index_error("there is no symbol with this index");
  }
  std::vector<SymbolView> found;
  for (const Symbol& symbol : view.table->aliases(index)) {
    found.push_back({view.table, symbol});
  }
  return found;
}

std::string elf_format(const ElfFile& file) {
  return (file.pointer_size() == 8 ? "elf64-" : "elf32-") +
         std::string(elf_machine(file.machine()).name);
}

std::string libbfd_version() {
  BfdLibrary* library = BfdLibrary::get();
  if (library == nullptr) {
    throw Error("whocall_bfd.so", BfdLibrary::load_failure());
  }
  return library->version();
}

std::string libdw_version() {
  DwarfLibrary* library = DwarfLibrary::get();
  if (library == nullptr) {
    throw Error("whocall_dw.so", DwarfLibrary::load_failure());
  }
  return library->version();
}

}  // namespace

bool is_elf(const std::string& path) {
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  constexpr std::string_view kMagic = "\177ELF";
  return bytes.size() >= kMagic.size() &&
         std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

std::vector<SourceLine> lines_at(const TableView& view, Address address) {
  if (view.sources != nullptr) {
    return view.sources->lines_at(address);
  }
  BfdLibrary* library = BfdLibrary::get();
  if (library == nullptr) {
    return {};
  }
  try {
    return library->open(view.path)->lines_at(address);
  } catch (const Error&) {
    return {};  // it has changed since
  }
}

TableView open_symbols(const std::string& path, const FileSearch& search, bool with_plt) {
  if (!is_elf(path)) {
    TableView view{.table = table_from_bfd(path), .path = path};
    view.format = BfdLibrary::get()->open(path)->format();
    return view;
  }
  const auto file = open_shared(path);
  const auto sources = symbol_sources_of(file, search);
  auto table = with_plt ? sources->table_with_plt() : sources->table();
  return {std::move(table), path, file->build_id(), elf_format(*file), sources};
}

std::vector<LineTuple> line_tuples(const std::vector<SourceLine>& lines) {
  std::vector<LineTuple> tuples;
  tuples.reserve(lines.size());
  for (const SourceLine& line : lines) {
    tuples.emplace_back(text(line.function), text(line.file), line.line);
  }
  return tuples;
}

void bind_symbols(py::module_& module) {
  py::class_<SymbolView>(module, "Symbol")
      .def_property_readonly("start",
                             [](const SymbolView& view) { return view.symbol.range.begin; })
      .def_property_readonly("end", [](const SymbolView& view) { return view.symbol.range.end; })
      .def_property_readonly("name", [](const SymbolView& view) { return text(view.name()); })
      .def_property_readonly("source",
                             [](const SymbolView& view) { return to_string(view.symbol.source); })
      .def_property_readonly("inferred",
                             [](const SymbolView& view) { return is_inferred(view.symbol.source); })
      .def_property_readonly("named",
                             [](const SymbolView& view) { return !view.symbol.name.empty(); });
  py::class_<TableView>(module, "SymbolTable")
      .def_property_readonly("path", [](const TableView& view) { return text(view.path); })
      .def_readonly("build_id", &TableView::build_id)
      .def_readonly("format", &TableView::format)
      .def("__len__", [](const TableView& view) { return view.table->symbols().size(); })
      .def("__getitem__", &symbol_at)
      .def("find", &find_one, py::arg("address"))
      .def("find_many", &find_many, py::arg("addresses"))
      .def("aliases", &aliases, py::arg("index"))
      .def(
          "lines_at",
          [](const TableView& view, Address address) {
            return line_tuples(lines_at(view, address));
          },
          py::arg("address"));
  module.def("open_symbols", &open_symbols, py::arg("path"), py::arg("search") = FileSearch(),
             py::arg("with_plt") = true);
  module.def(
      "demangle", [](const py::str& name) { return text(demangle(bytes_of_text(name))); },
      py::arg("name"));
  module.def(
      "short_form",
      [](const py::str& name, unsigned form) {
        return text(short_form(bytes_of_text(name), form));
      },
      py::arg("name"), py::arg("form"));
  module.attr("NAME_FORMS") = kNameForms;
  py::class_<NameForms>(module, "NameForms")
      .def(py::init<>())
      .def(
          "add", [](NameForms& forms, const py::str& name) { forms.add(bytes_of_text(name)); },
          py::arg("name"))
      .def(
          "fit",
          [](const NameForms& forms, const py::str& name, std::size_t room) {
            return text(forms.fit(bytes_of_text(name), room));
          },
          py::arg("name"), py::arg("room"));
  module.def(
      "printable",
      [](const py::str& name) {
        std::string told;
        append_printable(told, bytes_of_text(name));
        return text(told);
      },
      py::arg("text"));
  module.def("libbfd_version", &libbfd_version);
  module.def("libdw_version", &libdw_version);
}

}  // namespace whocall::python
