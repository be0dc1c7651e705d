#include "symbols/inferred/message_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "object/elf_imports.h"
#include "symbols/inferred/constant_arguments.h"
#include "symbols/inferred/message_callees.h"
#include "symbols/inferred/message_text.h"
#include "symbols/table/demangler.h"
#include "symbols/table/function_label.h"

namespace whocall {
namespace {

// Fewer callers prove nothing.
constexpr std::size_t kFewestCallers = 8;

std::string_view text_at(const ElfFile& file, Address address) {
  const ByteView bytes = file.at(address);
  const auto near = bytes.slice(0, std::min(bytes.size(), kLongestMessageText));
  return near ? near->c_string(0).value_or(std::string_view()) : std::string_view();
}

enum class TextKind : std::uint8_t { none, other, path, name, format };

TextKind kind_of_text(std::string_view text) {
  if (text.size() < 2) {
    return text.empty() ? TextKind::none : TextKind::other;
  }
  if (is_source_path(text)) {
    return TextKind::path;
  }
  if (message_callee_that_prints(text) != nullptr) {
    return TextKind::format;
  }
  return function_in_message(text) ? TextKind::name : TextKind::other;
}

struct OwnedCall {
  ConstantCall call;
  PartOwner owner;
};

// What one position of one callee gets.
struct Position {
  std::vector<const OwnedCall*> names;  // calls with a text that may name a function
  std::size_t others = 0;               // calls with another text
  std::size_t beside_paths = 0;         // of the names
  std::map<std::string_view, std::set<Address>> callers;  // by text
  std::set<Address> functions;
};

class Finder {
 public:
  explicit Finder(const NameEvidence& evidence)
      : evidence_(evidence), imports_(imported_functions(evidence.file)) {}

  std::vector<MessageCall> run() {
    std::vector<MessageCall> found;
    if (!evidence_.knows_starts() && !may_find_any()) {
      return found;
    }
    for (const auto& [key, position] : positions_of(&evidence_.starts())) {
      if (takes_names(key.first, key.second, position)) {
        append(position, key.second, found);
      }
    }
    return found;
  }

 private:
  using Positions = std::map<std::pair<Address, unsigned>, Position>;

  Positions positions_of(const FunctionStarts* starts) {
    find_calls(starts);
    Positions positions;
    for (const OwnedCall& call : calls_) {
      for (unsigned at = 0; at < kMostConstantArguments; ++at) {
        add(call, at, positions);
      }
    }
    return positions;
  }

  void find_calls(const FunctionStarts* starts) {
    const auto found =
        constant_calls(evidence_.file, evidence_.arch, starts,
                       [this](Address address) { return kind_of(address) > TextKind::other; });
    calls_.clear();
    printers_.clear();
    for (const ConstantCall& call : found) {
      calls_.push_back({call, {PartKind::function, call.function}});
      note_printer(call);
    }
    if (starts == nullptr || found.empty()) {
      return;
    }
    std::vector<Address> functions;
    for (const ConstantCall& call : found) {
      functions.push_back(call.function);
    }
    PartParents parents(evidence_.file, evidence_.arch, *starts, functions);
    for (auto& [call, owner] : calls_) {
      owner = parents.owner_of({call.function, call.site, never_returns(call.callee)});
    }
  }

  void note_printer(const ConstantCall& call) {
    for (const Address address : call.arguments) {
      if (address != 0 && kind_of(address) == TextKind::format) {
        printers_[call.function] = message_callee_that_prints(text_at(evidence_.file, address));
      }
    }
  }

  // Whether it is worth a look for all function starts, which costs several times the rest: without
  // them, more calls are found than there are, and what not even those reach, takes_names() will
  // not find either. Most of what is built without assertions ends here.
  bool may_find_any() {
    const Positions positions = positions_of(nullptr);
    return !printers_.empty() || std::ranges::any_of(positions, [this](const auto& each) {
      const auto& [key, position] = each;
      return !position.names.empty() && (is_known(key.first, key.second) ||
                                         (position.names.size() >= kFewestCallers &&
                                          (10 * position.beside_paths >= 6 * kFewestCallers ||
                                           own_names(position) >= kFewestCallers)));
    });
  }

  // How many functions with symbols pass their own names, at most: those symbols next to which a
  // constant was taken.
  std::size_t own_names(const Position& position) const {
    std::set<Address> found;
    for (const auto& [text, places] : position.callers) {
      for (const Address place : places) {
        const Address start = symbol_before(place);
        const std::string_view symbol = symbol_at(start);
        if (!symbol.empty() && !found.contains(start) &&
            function_in_demangled(demangle(symbol)) == function_in_message(text)) {
          found.insert(start);
        }
      }
    }
    return found.size();
  }
  TextKind kind_of(Address address) {
    const auto [place, fresh] = kinds_.try_emplace(address, TextKind::none);
    if (fresh) {
      place->second = kind_of_text(text_at(evidence_.file, address));
    }
    return place->second;
  }

  void add(const OwnedCall& owned, unsigned at, Positions& positions) {
    const ConstantCall& call = owned.call;
    const Address address = call.arguments.at(at);
    const TextKind kind = address == 0 ? TextKind::none : kind_of(address);
    if (kind == TextKind::none || call.callee == 0) {
      return;
    }
    Position& position = positions[{call.callee, at}];
    if (kind != TextKind::name) {
      ++position.others;
      return;
    }
    position.names.push_back(&owned);
    position.beside_paths += path_of(call) != 0 ? 1 : 0;
    position.callers[text_at(evidence_.file, address)].insert(owned.owner.function);
    position.functions.insert(owned.owner.function);
  }

  // The first argument that is the path of a source file; 0 for none.
  Address path_of(const ConstantCall& call) {
    for (const Address address : call.arguments) {
      if (address != 0 && kind_of(address) == TextKind::path) {
        return address;
      }
    }
    return 0;
  }

  bool takes_names(Address callee, unsigned argument, const Position& position) {
    const auto [right, wrong] = compare_with_symbols(position);
    if (5 * wrong > right + wrong && wrong > 2) {
      return false;
    }
    if (is_known(callee, argument)) {
      return true;
    }
    const std::size_t names = position.names.size();
    if (position.functions.size() < kFewestCallers || 20 * position.others > names ||
        2 * own_texts(position) < position.functions.size()) {
      return false;
    }
    return 10 * position.beside_paths >= 6 * names ||
           (right >= kFewestCallers && 50 * wrong <= right);
  }

  bool is_known(Address callee, unsigned argument) const {
    const MessageCallee* known = known_callee(callee);
    return known != nullptr && known->argument == argument;
  }

  bool never_returns(Address callee) const {
    const MessageCallee* known = known_callee(callee);
    return known != nullptr && known->never_returns;
  }

  // By its name or, without one, by what it prints; null for any other.
  const MessageCallee* known_callee(Address callee) const {
    const std::string_view name = name_of(callee);
    const auto printer = printers_.find(callee);
    return name.empty() && printer != printers_.end() ? printer->second : message_callee(name);
  }

  // How many texts only one function passes.
  static std::size_t own_texts(const Position& position) {
    return static_cast<std::size_t>(std::ranges::count_if(
        position.callers, [](const auto& each) { return each.second.size() == 1; }));
  }

  // Of the texts that one function passes, and that function has a symbol: how many are its name.
  std::pair<std::size_t, std::size_t> compare_with_symbols(const Position& position) const {
    std::map<Address, std::string_view> single;
    for (const auto& [text, functions] : position.callers) {
      for (const Address function : functions) {
        const auto [place, fresh] = single.try_emplace(function, text);
        place->second = fresh && functions.size() == 1 ? text : std::string_view();
      }
    }
    std::pair<std::size_t, std::size_t> counts;
    for (const auto& [function, text] : single) {
      const std::string_view symbol = text.empty() ? text : symbol_at(function);
      if (!symbol.empty()) {
        const bool same = function_in_demangled(demangle(symbol)) == function_in_message(text);
        ++(same ? counts.first : counts.second);
      }
    }
    return counts;
  }

  void append(const Position& position, unsigned argument, std::vector<MessageCall>& found) {
    for (const OwnedCall* each : position.names) {
      const ConstantCall* const call = &each->call;
      const Address path = path_of(*call);
      const std::string_view callee = name_of(call->callee);
      found.push_back({call->site, call->function, each->owner,
                       callee.empty() ? unnamed_function(call->callee) : std::string(callee),
                       std::string(text_at(evidence_.file, call->arguments.at(argument))),
                       path != 0 && is_header_path(text_at(evidence_.file, path))});
    }
  }

  std::string_view name_of(Address callee) const {
    if (const auto import = imports_.find(callee); import != imports_.end()) {
      return import->second;
    }
    return symbol_at(callee);
  }

  // The name of the symbol to show that starts at `function`; those with names come first.
  std::string_view symbol_at(Address function) const {
    const SymbolRange symbols = evidence_.table.symbols();
    const std::size_t first = first_symbol_from(function);
    const bool found = first < symbols.size() && symbols.start(first) == function;
    return found ? symbols[first].name : std::string_view();
  }

  // The nearest start of a symbol at or below `address`; the address itself where there is none.
  Address symbol_before(Address address) const {
    const std::size_t behind = first_symbol_from(address + 1);
    return behind == 0 ? address : evidence_.table.symbols().start(behind - 1);
  }

  // Index of the first symbol that starts at `address` or behind it.
  std::size_t first_symbol_from(Address address) const {
    const SymbolRange symbols = evidence_.table.symbols();
    std::size_t first = 0;
    std::size_t last = symbols.size();
    while (first < last) {
      const std::size_t middle = first + (last - first) / 2;
      if (symbols.start(middle) < address) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }

  const NameEvidence& evidence_;
  std::unordered_map<Address, std::string_view> imports_;
  std::unordered_map<Address, TextKind> kinds_;
  std::vector<OwnedCall> calls_;
  std::unordered_map<Address, const MessageCallee*> printers_;  // who takes the text of one
};

}  // namespace

bool is_part_of_message(const ElfFile& file, Address text) {
  return kind_of_text(text_at(file, text)) > TextKind::other;
}

std::vector<MessageCall> message_calls(const NameEvidence& evidence) {
  return Finder(evidence).run();
}

}  // namespace whocall
