// Function tables with what tells of each function.
#include "python/bind_functions.h"

#include <elf.h>
#include <pybind11/pybind11.h>

#include <utility>

#include "python/bind_symbols.h"
#include "python/convert.h"
#include "python/session.h"
#include "symbols/symbolizer.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

// What the name, or where there is none the start, comes from.
std::string_view source_of(const FoundFunction& function) {
  const auto witnesses = function.witnesses.list();
  const bool by_code = function.symbol.source == NameSource::call_target && !witnesses.empty();
  return by_code ? to_string(witnesses.front()) : to_string(function.symbol.source);
}

// (start, end, name, source, named, witnesses, inferred), link addresses.
py::tuple describe(const FoundFunction& function) {
  const Symbol& symbol = function.symbol;
  py::list witnesses;
  for (const StartWitness witness : function.witnesses.list()) {
    witnesses.append(text(to_string(witness)));
  }
  const bool named = !symbol.name.empty();
  return py::make_tuple(symbol.range.begin, symbol.range.end,
                        named ? text(symbol.name) : text(unnamed_function(symbol.range.begin)),
                        text(source_of(function)), named, std::move(witnesses),
                        is_inferred(symbol.source));
}

// Of what is no ELF file, or for an instruction set that we do not know, the symbols alone.
FunctionListView functions_of_file(const std::string& path, const FileSearch& search) {
  TableView view = open_symbols(path, true, search);
  if (is_elf(path)) {
    const auto file = ElfFile::open(path);
    const Architecture* arch =
        find_architecture(file->machine(), file->pointer_size(), file->endian());
    if (arch != nullptr && file->type() != ET_REL) {
      return list_functions(view.table, FunctionStarts(*file, *arch, *view.table),
                            std::make_shared<const InferredNames>(NameEvidence{*file, *arch}),
                            view.build_id);
    }
  }
  FunctionListView list{.table = view.table, .build_id = view.build_id};
  for (const Symbol& symbol : view.table->symbols()) {
    list.functions.push_back({symbol, witness_of(symbol.source)});
  }
  return list;
}

}  // namespace

FunctionListView list_functions(std::shared_ptr<const SymbolTable> table,
                                const FunctionStarts& starts,
                                std::shared_ptr<const InferredNames> inferred,
                                std::string build_id) {
  auto found = found_functions(*table, starts);
  add_inferred_names(*inferred, found);
  return {std::move(table), std::move(inferred), std::move(found), std::move(build_id)};
}

void bind_functions(py::module_& module) {
  py::class_<FunctionListView>(module, "FunctionList")
      .def_readonly("build_id", &FunctionListView::build_id)
      .def("__len__", [](const FunctionListView& view) { return view.functions.size(); })
      .def("__getitem__", [](const FunctionListView& view, std::size_t index) {
        if (index >= view.functions.size()) {
          throw py::index_error("the list is shorter");
        }
        return describe(view.functions[index]);
      });
  module.def("functions", &functions_of_file, py::arg("path"), py::arg("search") = FileSearch());
}

}  // namespace whocall::python
