#include "symbols/languages/ocaml_names.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "object/call_frame_info.h"
#include "symbols/languages/ocaml_program.h"

namespace whocall {
namespace {

class OcamlLines final : public LineTable {
 public:
  OcamlLines(const ElfFile& file, OcamlTables tables) : file_(file), tables_(tables) {}

  // What is asked about lies before the place that a call returns to.
  [[nodiscard]] std::vector<SourceLine> lines_at(Address link) const override {
    const OcamlProgram& known = program();
    const auto found =
        std::ranges::lower_bound(known.frames, link + 1, {}, &OcamlFrame::returns_to);
    return known.format && found != known.frames.end() && found->returns_to == link + 1
               ? ocaml_places(file_, found->debug_info, *known.format)
               : std::vector<SourceLine>();
  }

  [[nodiscard]] const OcamlProgram& program() const {
    std::call_once(read_, [this] { program_ = read_ocaml_program(file_, tables_); });
    return program_;
  }

 private:
  const ElfFile& file_;
  OcamlTables tables_;
  mutable std::once_flag read_;
  mutable OcamlProgram program_;
};

// Whether code of `inner` stands in the text of `outer`: "Stdlib.input_line.scan" in
// "Stdlib.input_line".
bool is_inside(std::string_view inner, std::string_view outer) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '.');
}

// The scope around the last word of a name; empty of what is no function within another.
std::string_view function_around(std::string_view name) {
  const std::size_t last = name.rfind('.');
  const std::string_view around = name.substr(0, last == std::string_view::npos ? 0 : last);
  const std::size_t word = around.rfind('.') + 1;  // 0: the module
  const bool is_module = word == 0 || std::isupper(static_cast<unsigned char>(around[word])) != 0;
  return is_module && around.find('#', word) == std::string_view::npos ? "" : around;
}

// Folklore. Situation: the compiler makes loops of local functions, and calls of these say that
// they stand in those. Example: all calls in camlStdlib__input_line are of its scan: "Stdlib.
// input_line.scan". Remedy: of several scopes the one around all others is the function; and one
// inside of another function is a function itself only where that other one is told elsewhere.
class SaidNames {
 public:
  SaidNames(const ElfFile& file, const OcamlProgram& program) {
    const CallFrameInfo* const tables = eh_frame_of(file);
    for (const OcamlFrame& frame : program.frames) {
      const auto fde = tables != nullptr ? tables->find(frame.returns_to - 1) : std::nullopt;
      const auto places =
          fde ? ocaml_places(file, frame.debug_info, *program.format) : std::vector<SourceLine>();
      if (!places.empty()) {
        add({fde->range.begin, fde->range.end}, places.back().function);
      }
    }
    for (const auto& [range, name] : names_) {
      told_.insert(name);
    }
  }

  // visit(range, name).
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [range, name] : names_) {
      const std::string around(function_around(name));
      if (!name.empty() && (around.empty() || told_.contains(around))) {
        visit(AddressRange{range.first, range.second}, name);
      }
    }
  }

 private:
  void add(std::pair<Address, Address> range, const std::string& said) {
    const auto [known, is_new] = names_.try_emplace(range, said);
    if (is_new || is_inside(said, known->second)) {
      return;
    }
    known->second = is_inside(known->second, said) ? said : "";
  }

  std::map<std::pair<Address, Address>, std::string> names_;  // empty where they do not agree
  std::unordered_set<std::string> told_;
};

void add_symbols(const ElfFile& file, const OcamlProgram& program, NameList& list) {
  const auto texts = std::make_shared<std::deque<std::string>>();
  SaidNames(file, program).for_each([&](AddressRange range, const std::string& name) {
    if (!file.budget().draw(Cost::names, name.size())) {
      return;
    }
    texts->push_back(name);
    Symbol symbol;
    symbol.range = range;
    symbol.name = texts->back();
    symbol.source = NameSource::frametable;
    list.symbols.push_back(symbol);
  });
  list.owner = texts;
}

}  // namespace

std::optional<NameList> ocaml_names(const ElfFile& file) {
  const OcamlTables tables = ocaml_tables(file);
  if (tables == OcamlTables::none) {
    return std::nullopt;
  }
  NameList list;
  const auto lines = std::make_shared<const OcamlLines>(file, tables);
  if (tables == OcamlTables::searched && lines->program().format) {
    add_symbols(file, lines->program(), list);
  }
  list.lines = lines;
  return list;
}

}  // namespace whocall
