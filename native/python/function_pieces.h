// Function tables as text and JSON, written here because there may be a million rows.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "report/short_names.h"
#include "symbols/found_functions.h"

namespace whocall::python {

// How functions are written; the words are Python's (report/tables/functions.py).
struct FunctionForm {
  // What stands before and behind a text of one role.
  using Paint = std::array<std::string, 2>;

  bool json = false;
  bool demangled = true;
  Address bias = 0;            // is added to link addresses, as pointers add
  Address mask = ~Address{0};  // of a pointer's bits
  // Of text only:
  std::size_t digits = 16;  // of addresses
  std::size_t width = 0;    // characters of the column of sources
  std::size_t columns = 0;  // of the screen; 0: lines have no end
  std::string mark{};       // stands behind inferred names
  Paint address{};
  Paint metadata{};
  Paint function{};
};

// An iterator: some functions at a time, whole lines of text or JSON's items with what goes
// between.
class FunctionPieces {
 public:
  // `list` must outlive it. `chosen`: None for all functions, or a buffer of 8-byte indices.
  FunctionPieces(const FoundFunctions& list, FunctionForm form, const pybind11::object& chosen);

  pybind11::str next();

 private:
  void append(const FoundFunction& function);
  void append_line(const FoundFunction& function, std::string_view name, std::string_view source);
  void append_item(const FoundFunction& function, std::string_view raw_name, std::string_view name,
                   std::string_view source);
  // What tells that a function without a name starts there, as far as that fits the screen.
  void append_witnesses(const FoundFunction& function, std::string_view source, std::size_t room);
  // The name, or where it does not fit the screen a shorter form that no other one here has.
  std::string fit(std::string_view name, std::size_t room);
  bool are_told_apart();
  // The name itself as long as the budget lasts, then its beginning.
  std::string_view affordable(std::string_view name, std::string& kept);
  void append_hex(Address address, std::size_t digits);

  const FoundFunctions& list_;
  FunctionForm form_;
  std::optional<std::vector<std::uint64_t>> chosen_;
  std::size_t next_ = 0;
  std::string piece_;
  std::unique_ptr<Budget> budget_;
  std::array<std::string, 2> cut_;
  std::optional<NameForms> forms_;  // a miss until a name does not fit
  bool may_shorten_ = true;
};

// The names of list[begin:end], or of as many of them as are not too long together, as they are
// shown, and as they are written in the file: where both are the same, the same object.
pybind11::tuple names_of(const FoundFunctions& list, std::size_t begin, std::size_t end,
                         bool demangled);

// Characters of the longest word that tells a source of the chosen functions.
std::size_t longest_source(const FoundFunctions& list, const pybind11::object& chosen);

void bind_function_pieces(pybind11::module_& module);

}  // namespace whocall::python
