// A function table as Python holds it.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "object/source_line.h"
#include "python/session.h"
#include "symbols/symbol_sources.h"
#include "symbols/table/symbol_table.h"

namespace whocall::python {

struct TableView {
  std::shared_ptr<const SymbolTable> table;
  std::string path{};
  std::string build_id{};
  std::string format{};
  std::shared_ptr<SymbolSources> sources{};  // null for a file that is not ELF
};

bool is_elf(const std::string& path);
// The functions of any object file; libbfd reads what is not ELF. Of `search` only the debug
// directories and the sysroot count. Throws Error.
TableView open_symbols(const std::string& path, const FileSearch& search, bool with_plt = true);

// The source position of a link address; empty when none is known.
std::vector<SourceLine> lines_at(const TableView& view, Address address);

// (function, file, line).
using LineTuple = std::tuple<pybind11::str, pybind11::str, unsigned>;

// Innermost inlined call first.
std::vector<LineTuple> line_tuples(const std::vector<SourceLine>& lines);

}  // namespace whocall::python
