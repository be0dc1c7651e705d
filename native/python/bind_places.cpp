// Places in processes and in files.
#include "python/bind_places.h"

#include <pybind11/stl.h>

#include <optional>
#include <utility>

#include "object/open_files.h"
#include "python/bind_symbols.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/hint_tuples.h"
#include "report/form/file_display.h"
#include "report/form/source_hints.h"
#include "symbols/external/list_table.h"
#include "symbols/table/demangler.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

// The names of one file of any format, by link address.
class FileNames {
 public:
  FileNames(std::string path, FileSearch search)
      : path_(std::move(path)), search_(std::move(search)) {
    if (is_elf(path_)) {
      file_ = open_shared(path_);
      symbols_ = std::make_unique<FileSymbols>(file_, search_);
    } else if ((list_ = table_from_breakpad(path_))) {
      table_ = {.table = list_->table, .path = path_};
    } else {
      table_ = open_symbols(path_, search_);
    }
  }

  PlaceView describe(Address address, bool demangle) {
    auto place = std::make_shared<const FilePlace>(
        symbols_ != nullptr ? symbols_->describe(address, options(demangle))
                            : look_up(address, demangle));
    return {
        .owner = place, .address = address, .place = place.get(), .module = path_, .file = file_};
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string remark() const {
    return symbols_ != nullptr ? symbols_->remark() : std::string();
  }

 private:
  static NamingOptions options(bool demangle) { return {.demangle = demangle, .refused = true}; }

  [[nodiscard]] FilePlace look_up(Address address, bool demangled) const {
    FilePlace place{.link_address = address};
    const SymbolTable& table = *table_.table;
    const std::uint32_t index = table.find(address);
    if (index == SymbolTable::kNone) {
      return place;
    }
    const Symbol symbol = table.symbols()[index];
    const std::string raw(symbol.name);
    place.function = FunctionMatch{.name = demangled ? demangle(raw) : raw,
                                   .raw_name = raw,
                                   .source = symbol.source,
                                   .start = symbol.range.begin,
                                   .size = symbol.range.size()};
    for (const Symbol& alias : table.aliases(index)) {
      if (alias.name != symbol.name) {
        place.function->aliases.emplace_back(alias.name);
      }
    }
    place.lines = list_ ? list_->lines_at(address) : lines_at(table_, address);
    return place;
  }

  std::string path_;
  FileSearch search_;
  std::shared_ptr<const ElfFile> file_;   // where it is an ELF file
  std::unique_ptr<FileSymbols> symbols_;  // of that
  std::optional<ListTable> list_;         // of Breakpad files
  TableView table_;                       // of these and of others
};

template <typename Value>
py::object function_part(const PlaceView& view, Value value) {
  const auto& function = view.place->function;
  return function ? py::object(value(*function)) : py::object(py::none());
}

// (name, source, start, reason)
py::object refused(const PlaceView& view) {
  const auto& symbol = view.place->refused;
  return symbol ? py::object(py::make_tuple(text(symbol->name), text(to_string(symbol->source)),
                                            symbol->start, text(symbol->reason)))
                : py::object(py::none());
}

// (only caller or None, only text or None, imports); None where the function has a name.
py::object traits(const PlaceView& view) {
  FunctionTraits found = traits_of(*view.place, view.file);
  for (std::string& name : found.imports) {
    name = demangle(name);
  }
  return found.none()
             ? py::object(py::none())
             : py::object(py::make_tuple(text_or_none(demangle(found.only_caller)),
                                         text_or_none(found.only_text), text_list(found.imports)));
}

// Of each of the lines, as gdb's `set filename-display absolute` has it.
py::list absolute_files(const PlaceView& view) {
  py::list files;
  for (const SourceLine& line : view.place->lines) {
    files.append(text(absolute_source(line.file, line.directory)));
  }
  return files;
}

void bind_function_parts(py::class_<PlaceView>& place) {
  place
      .def_property_readonly(
          "function",
          [](const PlaceView& view) {
            return function_part(view, [](const FunctionMatch& match) { return text(match.name); });
          })
      .def_property_readonly("offset",
                             [](const PlaceView& view) {
                               return function_part(view, [&](const FunctionMatch& match) {
                                 return py::int_(view.place->link_address - match.start);
                               });
                             })
      .def_property_readonly("size",
                             [](const PlaceView& view) {
                               return function_part(view, [](const FunctionMatch& match) {
                                 return py::int_(match.size);
                               });
                             })
      .def_property_readonly("name_source",
                             [](const PlaceView& view) {
                               return function_part(view, [](const FunctionMatch& match) {
                                 return text(to_string(match.source));
                               });
                             })
      .def_property_readonly("inferred",
                             [](const PlaceView& view) {
                               const auto& function = view.place->function;
                               return function && is_inferred(function->source);
                             })
      .def_property_readonly(
          "aliases",
          [](const PlaceView& view) {
            return view.place->function ? text_list(view.place->function->aliases) : py::list();
          })
      .def_property_readonly(
          "raw_name",
          [](const PlaceView& view) {
            return text_or_none(view.place->function ? view.place->function->raw_name : "");
          })
      .def_property_readonly("absolute_files", &absolute_files)
      .def_property_readonly("lines",
                             [](const PlaceView& view) { return line_tuples(view.place->lines); })
      .def_property_readonly(
          "proof",
          [](const PlaceView& view) {
            return text_or_none(view.place->function ? view.place->function->proof : "");
          })
      .def_property_readonly(
          "source_hints",
          [](const PlaceView& view) { return hint_tuples(source_hints(*view.place, view.file)); })
      .def_property_readonly("traits", &traits)
      .def_property_readonly("refused", &refused);
}

}  // namespace

PlaceView describe(const Process& process, Address address, bool demangle, bool lines,
                   bool refused) {
  const auto& session = process.session();
  const Place& place = session->symbolizer->describe(
      address, {.demangle = demangle, .lines = lines, .refused = refused});
  PlaceView view{.owner = session, .address = address, .place = &place};
  view.in_module = place.module != nullptr;
  if (view.in_module) {
    view.module = place.module->path;
    view.build_id = place.module->build_id();
    view.file = place.module->file;
  }
  return view;
}

void bind_places(py::module_& module) {
  py::class_<PlaceView> place(module, "Place");
  place.def_readonly("address", &PlaceView::address)
      .def_property_readonly("module",
                             [](const PlaceView& view) { return text_or_none(view.module); })
      .def_property_readonly("build_id",
                             [](const PlaceView& view) { return text_or_none(view.build_id); })
      .def_property_readonly("rva",
                             [](const PlaceView& view) {
                               return view.in_module ? std::optional(view.place->link_address)
                                                     : std::nullopt;
                             })
      .def_property_readonly(
          "section", [](const PlaceView& view) { return text_or_none(view.place->section); });
  bind_function_parts(place);
  py::class_<FileNames>(module, "FileNames")
      .def(py::init<std::string, FileSearch>(), py::arg("path"), py::arg("search") = FileSearch())
      .def_property_readonly("path", [](const FileNames& names) { return text(names.path()); })
      .def_property_readonly("remark", [](const FileNames& names) { return text(names.remark()); })
      .def("describe", &FileNames::describe, py::arg("address"), py::arg("demangle") = true);
}

}  // namespace whocall::python
