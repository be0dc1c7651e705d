// Function tables with what tells of each function.
#include "python/bind_functions.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "object/open_files.h"
#include "process/jit/jit_objects.h"
#include "python/bind_symbols.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/function_pieces.h"
#include "python/session.h"
#include "symbols/jit/jit_object_names.h"
#include "symbols/table/function_label.h"
#include "symbols/table/symbol_list.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

// (start, end, name, source, named, evidence, inferred), link addresses.
py::tuple as_tuple(const FoundFunction& function) {
  const Symbol& symbol = function.symbol;
  py::list evidence;
  for (const StartEvidence kind : function.evidence.list()) {
    evidence.append(text(to_string(kind)));
  }
  const bool named = !symbol.name.empty();
  return py::make_tuple(symbol.range.begin, symbol.range.end,
                        named ? text(symbol.name) : text(unnamed_function(symbol.range.begin)),
                        text(source_of(function)), named, std::move(evidence),
                        is_inferred(symbol.source));
}

FunctionListView symbols_alone(std::shared_ptr<const SymbolTable> table, std::string build_id) {
  return {.functions = FoundFunctions(std::move(table)), .build_id = std::move(build_id)};
}

FunctionListView functions_of_file(const std::string& path, const FileSearch& search) {
  if (is_elf(path)) {
    FileSymbols names(open_shared(path), search);
    return list_functions(names);
  }
  const TableView view = open_symbols(path, search);
  return symbols_alone(view.table, view.build_id);
}

}  // namespace

FunctionListView list_functions(FileSymbols& names) {
  const FunctionStarts* starts = names.starts();
  if (starts == nullptr) {
    return symbols_alone(names.table_with_plt(), names.file().build_id());
  }
  return {.functions = FoundFunctions(names.table_with_plt(), *starts, names.inferred()),
          .build_id = names.file().build_id(),
          .remark = names.remark()};
}

FunctionListView list_jit_functions(const ProcessImage& process, Symbolizer& symbolizer) {
  SymbolList functions;
  for (const auto& [start, function] : symbolizer.jit_names().all().all()) {
    if (process.may_be_jit_code(start)) {
      Symbol symbol;
      symbol.range = {start, function.range.end};
      symbol.name = function.name;
      symbol.source = function.source;
      functions.add(symbol);
    }
  }
  return symbols_alone(SymbolTable::from_symbols(std::move(functions)), "");
}

py::list list_jit_objects(const ProcessImage& process) {
  py::list objects;
  for (const JitObject& object : jit_objects_of(process).all()) {
    Address end = 0;
    for (const AddressRange& range : object.code) {
      end = std::max(end, range.end);
    }
    objects.append(py::make_tuple(text(object.file->path()), object.file->bytes().size(),
                                  object.code.front().begin, end,
                                  functions_of(object, *process.arch).size()));
  }
  return objects;
}

void bind_functions(py::module_& module) {
  py::class_<FunctionListView>(module, "FunctionList")
      .def_readonly("build_id", &FunctionListView::build_id)
      .def_property_readonly("remark",
                             [](const FunctionListView& view) { return text(view.remark); })
      .def("__len__", [](const FunctionListView& view) { return view.functions.size(); })
      .def("__getitem__",
           [](const FunctionListView& view, std::size_t index) {
             if (index >= view.functions.size()) {
               throw py::index_error("the list is shorter");
             }
             return as_tuple(view.functions[index]);
           })
      .def(
          "names",
          [](const FunctionListView& view, std::size_t begin, std::size_t end, bool demangled) {
            return names_of(view.functions, begin, end, demangled);
          },
          py::arg("begin"), py::arg("end"), py::arg("demangled"))
      .def(
          "longest_source",
          [](const FunctionListView& view, const py::object& chosen) {
            return longest_source(view.functions, chosen);
          },
          py::arg("chosen") = py::none())
      .def(
          "pieces",
          [](const FunctionListView& view, const FunctionForm& form, const py::object& chosen) {
            return FunctionPieces(view.functions, form, chosen);
          },
          py::arg("form"), py::arg("chosen") = py::none(), py::keep_alive<0, 1>());
  bind_function_pieces(module);
  module.def("functions", &functions_of_file, py::arg("path"), py::arg("search") = FileSearch());
}

}  // namespace whocall::python
