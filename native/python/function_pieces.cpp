#include "python/function_pieces.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/interrupt.h"
#include "base/json_text.h"
#include "base/printable_text.h"
#include "python/convert.h"
#include "symbols/table/demangler.h"
#include "symbols/table/function_label.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

// Large enough that Python's share is small, small enough that a pager's `q` is heard at once.
constexpr std::size_t kPieceBytes = std::size_t{1} << 15U;
constexpr std::size_t kUsualName = 64;  // bytes
constexpr std::size_t kCutName = 256;   // bytes, of a name for whose rest there is no room
constexpr std::size_t kShortened = std::size_t{1} << 21U;    // bytes, of a table's names
constexpr std::size_t kNamesAtOnce = std::size_t{1} << 22U;  // bytes

std::optional<std::vector<std::uint64_t>> indices_of(const py::object& chosen) {
  if (chosen.is_none()) {
    return std::nullopt;
  }
  const py::buffer_info info = chosen.cast<py::buffer>().request();
  if (info.itemsize != sizeof(std::uint64_t) || info.ndim != 1 ||
      info.strides[0] != sizeof(std::uint64_t)) {
    throw py::value_error("the buffer has to hold 8-byte indices, one after the other");
  }
  const auto* first = static_cast<const std::uint64_t*>(info.ptr);
  return std::vector<std::uint64_t>(first, first + info.size);
}

template <typename Visit>
void for_each_witness(StartEvidenceSet evidence, Visit visit) {
  for (unsigned i = 0; i < kStartEvidenceKinds; ++i) {
    if (const auto kind = static_cast<StartEvidence>(i); evidence.has(kind)) {
      visit(to_string(kind));
    }
  }
}

}  // namespace

FunctionPieces::FunctionPieces(const FoundFunctions& list, FunctionForm form,
                               const py::object& chosen)
    : list_(list),
      form_(std::move(form)),
      chosen_(indices_of(chosen)),
      budget_(std::make_unique<Budget>("The list of functions", list.size() * kUsualName)) {}

py::str FunctionPieces::next() {
  check_interrupt();  // who passes the pieces on need not be Python code
  const std::size_t count = chosen_ ? chosen_->size() : list_.size();
  if (next_ == count) {
    throw py::stop_iteration();
  }
  piece_.clear();
  while (next_ != count && piece_.size() < kPieceBytes) {
    const std::uint64_t index = chosen_ ? (*chosen_)[next_] : next_;
    if (index >= list_.size()) {
      throw py::index_error("the list is shorter");
    }
    append(list_[index]);
    ++next_;
  }
  return text(piece_);
}

void FunctionPieces::append(const FoundFunction& function) {
  const Symbol& symbol = function.symbol;
  const FunctionLabel label(symbol.range.begin);
  const std::string_view raw_name = symbol.name.empty() ? label.text() : symbol.name;
  std::string demangled;
  std::string_view name = raw_name;
  if (form_.demangled && looks_mangled(raw_name)) {
    demangled = demangle(raw_name);
    name = demangled;
  }
  const std::string_view source = source_of(function);
  if (form_.json) {
    append_item(function, affordable(raw_name, cut_[0]), affordable(name, cut_[1]), source);
  } else {
    append_line(function, affordable(name, cut_[0]), source);
  }
}

// 100,000 symbols may share one name of 65,000 bytes.
std::string_view FunctionPieces::affordable(std::string_view name, std::string& kept) {
  if (name.size() <= kCutName || budget_->draw(Cost::names, name.size())) {
    return name;
  }
  std::size_t end = kCutName;
  while (end > 0 && (name[end] & 0xc0) == 0x80) {  // in the middle of a character
    --end;
  }
  kept.assign(name.substr(0, end)).append("... (" + std::to_string(name.size()) + " bytes)");
  return kept;
}

void FunctionPieces::append_line(const FoundFunction& function, std::string_view name,
                                 std::string_view source) {
  const AddressRange& range = function.symbol.range;
  for (const Address address : {range.begin, range.end}) {
    piece_ += form_.address[0];
    append_hex(address, form_.digits);
    piece_.append(form_.address[1]).append(1, ' ');
  }
  piece_.append(form_.metadata[0]).append(source);
  piece_.append(form_.width - std::min(form_.width, source.size()), ' ');
  piece_.append(form_.metadata[1]).append(1, ' ');
  const std::string_view mark =
      is_inferred(function.symbol.source) ? std::string_view(form_.mark) : std::string_view();
  const std::size_t before = 2 * (form_.digits + 3) + std::max(form_.width, source.size()) + 1;
  const std::size_t taken = before + character_count(mark) + 1;  // the last column stays free
  const std::size_t room = form_.columns - std::min(form_.columns, taken);
  std::string told;
  append_printable(told, form_.columns != 0 ? fit(name, room) : name);
  piece_.append(form_.function[0]).append(told).append(mark).append(form_.function[1]);
  if (function.symbol.name.empty()) {
    append_witnesses(function, source, room - std::min(room, character_count(told)));
  }
  piece_ += '\n';
}

void FunctionPieces::append_witnesses(const FoundFunction& function, std::string_view source,
                                      std::size_t room) {
  std::vector<std::string_view> words;
  for_each_witness(function.evidence, [&](std::string_view word) {
    if (word != source) {
      words.push_back(word);
    }
  });
  const auto told = [&](std::string_view end) {
    std::string all;
    for (const std::string_view word : words) {
      all.append(all.empty() ? "" : ", ").append(word);
    }
    return all.append(end);
  };
  std::string all = told("");
  while (form_.columns != 0 && !words.empty() && all.size() + 3 > room) {  // " (" and ")"
    words.pop_back();
    all = told(", ...");
  }
  if (!words.empty()) {
    piece_.append(1, ' ').append(form_.metadata[0]).append(1, '(');
    piece_.append(all).append(1, ')').append(form_.metadata[1]);
  }
}

std::string FunctionPieces::fit(std::string_view name, std::size_t room) {
  if (character_count(name) <= room || !are_told_apart()) {
    return std::string(name);
  }
  return forms_->fit(name, room);
}

// Whether all names of the table were looked at. Before the first row there is no time for very
// many, and nobody reads those on a screen: then they stay whole.
bool FunctionPieces::are_told_apart() {
  if (forms_ || !may_shorten_) {
    return may_shorten_;
  }
  forms_.emplace();
  const std::size_t count = chosen_ ? chosen_->size() : list_.size();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count && bytes < kShortened; ++i) {
    check_interrupt_at(i, kManyEntries);
    const std::uint64_t index = chosen_ ? (*chosen_)[i] : i;
    if (index < list_.size()) {
      const Symbol symbol = list_[index].symbol;
      const bool is_mangled = form_.demangled && looks_mangled(symbol.name);
      const std::string name = is_mangled ? demangle(symbol.name) : std::string(symbol.name);
      bytes += name.size();
      forms_->add(name);
    }
  }
  may_shorten_ = bytes < kShortened;
  return may_shorten_;
}

void FunctionPieces::append_item(const FoundFunction& function, std::string_view raw_name,
                                 std::string_view name, std::string_view source) {
  const Symbol& symbol = function.symbol;
  piece_ += next_ == 0 ? "\n    {\n     \"start\": \"" : ",\n    {\n     \"start\": \"";
  append_hex(symbol.range.begin, 1);
  piece_ += "\",\n     \"end\": \"";
  append_hex(symbol.range.end, 1);
  piece_ += "\",\n     \"name\": ";
  append_json_string(piece_, name);
  piece_ += ",\n     \"raw_name\": ";
  append_json_string(piece_, raw_name);
  piece_ += ",\n     \"source\": ";
  append_json_string(piece_, source);
  piece_ += ",\n     \"named\": ";
  piece_ += symbol.name.empty() ? "false" : "true";
  piece_ += ",\n     \"inferred\": ";
  piece_ += is_inferred(symbol.source) ? "true" : "false";
  piece_ += ",\n     \"witness\": [";
  bool is_first = true;
  for_each_witness(function.evidence, [&](std::string_view word) {
    piece_ += is_first ? "\n      " : ",\n      ";
    append_json_string(piece_, word);
    is_first = false;
  });
  piece_ += is_first ? "]\n    }" : "\n     ]\n    }";
}

// As Python's f"{address:#0{digits + 2}x}".
void FunctionPieces::append_hex(Address address, std::size_t digits) {
  std::array<char, 16> text{};
  const char* end =
      std::to_chars(text.data(), text.data() + text.size(), (address + form_.bias) & form_.mask, 16)
          .ptr;
  const auto count = static_cast<std::size_t>(end - text.data());
  piece_.append("0x").append(digits - std::min(digits, count), '0').append(text.data(), count);
}

py::tuple names_of(const FoundFunctions& list, std::size_t begin, std::size_t end, bool demangled) {
  check_interrupt();
  end = std::min(end, list.size());
  begin = std::min(begin, end);
  py::list shown;
  py::list raw;
  std::size_t bytes = 0;
  for (std::size_t i = begin; i < end && bytes < kNamesAtOnce; ++i) {
    const Symbol symbol = list[i].symbol;
    const FunctionLabel label(symbol.range.begin);
    const std::string_view name = symbol.name.empty() ? label.text() : symbol.name;
    const py::str written = text(name);
    raw.append(written);
    shown.append(demangled && looks_mangled(name) ? text(demangle(name)) : written);
    bytes += name.size();
  }
  return py::make_tuple(std::move(shown), std::move(raw));
}

std::size_t longest_source(const FoundFunctions& list, const py::object& chosen) {
  const auto indices = indices_of(chosen);
  const std::size_t count = indices ? indices->size() : list.size();
  std::size_t longest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    check_interrupt_at(i, kManyEntries);
    const std::uint64_t index = indices ? (*indices)[i] : i;
    if (index >= list.size()) {
      throw py::index_error("the list is shorter");
    }
    longest = std::max(longest, source_of(list[index]).size());
  }
  return longest;
}

void bind_function_pieces(py::module_& module) {
  py::class_<FunctionForm>(module, "FunctionForm")
      .def(py::init<>())
      .def_readwrite("json", &FunctionForm::json)
      .def_readwrite("demangled", &FunctionForm::demangled)
      .def_readwrite("bias", &FunctionForm::bias)
      .def_readwrite("mask", &FunctionForm::mask)
      .def_readwrite("digits", &FunctionForm::digits)
      .def_readwrite("width", &FunctionForm::width)
      .def_readwrite("columns", &FunctionForm::columns)
      .def_readwrite("mark", &FunctionForm::mark)
      .def_readwrite("address", &FunctionForm::address)
      .def_readwrite("metadata", &FunctionForm::metadata)
      .def_readwrite("function", &FunctionForm::function);
  py::class_<FunctionPieces>(module, "FunctionPieces")
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", &FunctionPieces::next);
}

}  // namespace whocall::python
