// What is known of the names of a program's functions while FLIRT's modules are judged.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/address.h"
#include "symbols/flirt/flirt_candidates.h"

namespace whocall {

class FlirtNames {
 public:
  // Both outlive the object.
  FlirtNames(const FlirtProgram& program, const FlirtSet& set);

  struct Function {
    AddressRange range;
    std::vector<std::string_view> names{};  // the one to show first
  };

  // What stands at the candidate is its module.
  void accept(const FlirtCandidate& candidate);
  // Recognised functions, by their link addresses.
  [[nodiscard]] const std::map<Address, Function>& accepted() const { return accepted_; }

  // Whether the function at `address` has the name.
  enum class Known { same, other, nothing };
  [[nodiscard]] Known known(std::string_view name, Address address);
  // Whether a recognised module calls it so.
  [[nodiscard]] bool is_called(std::string_view name, Address address) const;

  // Folklore. Situation: programs have code of their own that is a library's, too. Example:
  // gnulib's copy of strdup in coreutils, which calls the C library's malloc. Remedy: where another
  // file has a function that is a module's, the library was not linked in.
  [[nodiscard]] bool is_imported(const FlirtBranch& branch) const;

 private:
  [[nodiscard]] Known among(const std::vector<std::string_view>& names,
                            std::string_view name) const;

  const FlirtProgram& program_;
  const FlirtSet& set_;
  std::unordered_set<std::string_view> defined_;  // names of modules, wherever they may stand
  std::unordered_map<Address, std::vector<std::string_view>> own_;  // what the file says
  std::unordered_map<Address, std::string_view> said_;  // what recognised modules call it
  std::map<Address, Function> accepted_;
};

}  // namespace whocall
