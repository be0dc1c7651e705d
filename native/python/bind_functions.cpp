// Function tables with what tells of each function.
#include "python/bind_functions.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "object/open_files.h"
#include "process/jit_objects.h"
#include "python/bind_symbols.h"
#include "python/convert.h"
#include "python/session.h"
#include "symbols/jit/jit_object_names.h"
#include "symbols/table/function_label.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

// What the name, or where there is none the start, comes from.
std::string_view source_of(const FoundFunction& function) {
  const auto evidence = function.evidence.list();
  const bool by_code = function.symbol.source == NameSource::call_target && !evidence.empty();
  return by_code ? to_string(evidence.front()) : to_string(function.symbol.source);
}

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
  FunctionListView list{.table = std::move(table), .build_id = std::move(build_id)};
  for (const Symbol& symbol : list.table->symbols()) {
    list.functions.push_back({symbol, evidence_of(symbol.source)});
  }
  return list;
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
  FunctionListView list{.table = names.table_with_plt(),
                        .inferred = names.inferred(),
                        .build_id = names.file().build_id(),
                        .remark = names.remark()};
  list.functions = found_functions(*list.table, *starts);
  add_inferred_names(*list.inferred, list.functions);
  return list;
}

py::list list_jit_functions(const ProcessImage& process, Symbolizer& symbolizer) {
  py::list functions;
  for (const auto& [start, function] : symbolizer.jit_names().all().all()) {
    if (process.may_be_jit_code(start)) {
      functions.append(py::make_tuple(start, function.range.end, text(function.name),
                                      text(to_string(function.source)), true, py::list(), false));
    }
  }
  return functions;
}

py::list list_jit_objects(const ProcessImage& process) {
  py::list objects;
  for (const JitObject& object : jit_objects_of(process).all()) {
    Address end = 0;
    for (const AddressRange& range : object.code) {
      end = std::max(end, range.end);
    }
    objects.append(py::make_tuple(text(object.file->path()), object.file->bytes().size(),
                                  object.code.front().begin, end, functions_of(object).size()));
  }
  return objects;
}

void bind_functions(py::module_& module) {
  py::class_<FunctionListView>(module, "FunctionList")
      .def_readonly("build_id", &FunctionListView::build_id)
      .def_property_readonly("remark",
                             [](const FunctionListView& view) { return text(view.remark); })
      .def("__len__", [](const FunctionListView& view) { return view.functions.size(); })
      .def("__getitem__", [](const FunctionListView& view, std::size_t index) {
        if (index >= view.functions.size()) {
          throw py::index_error("the list is shorter");
        }
        return as_tuple(view.functions[index]);
      });
  module.def("functions", &functions_of_file, py::arg("path"), py::arg("search") = FileSearch());
}

}  // namespace whocall::python
