// Signatures of static libraries and of linked files.
#include <pybind11/stl.h>

#include <algorithm>

#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"
#include "symbols/signatures/open_signatures.h"
#include "symbols/signatures/signature_builder.h"
#include "symbols/signatures/signature_file.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

py::dict summary_of(const SignatureSet& set) {
  py::dict summary;
  summary["arch"] = text(set.arch->name);
  summary["members"] = set.members.size();
  summary["sections"] = set.sections.size();
  const auto named = std::ranges::count_if(
      set.build_functions, [](const BuildFunction& each) { return each.name != 0; });
  summary["functions"] = set.functions.size() + static_cast<std::size_t>(named);
  summary["builds"] = set.builds.size();
  return summary;
}

// (the file's bytes, its summary, remarks)
py::tuple build(const std::vector<std::string>& paths) {
  const BuiltSignatures built = build_signatures(paths);
  const std::vector<std::byte> encoded = encode_signatures(built.set);
  return py::make_tuple(py::bytes(reinterpret_cast<const char*>(encoded.data()), encoded.size()),
                        summary_of(built.set), text_list(built.remarks));
}

py::dict summary_of(const FlirtSet& set) {
  py::dict summary;
  summary["library"] = text(set.library);
  summary["modules"] = set.modules.size();
  summary["functions"] = std::ranges::count_if(set.names, &FlirtName::is_told);
  return summary;
}

py::dict summary(const std::string& path) {
  const OpenedSignatures opened = open_signatures(path);
  return opened.own != nullptr ? summary_of(opened.own->set()) : summary_of(opened.flirt->set());
}

}  // namespace

void bind_signatures(py::module_& module) {
  module.def("build_signatures", &build, py::arg("paths"));
  module.def("signature_summary", &summary, py::arg("path"));
}

}  // namespace whocall::python
