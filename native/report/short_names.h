// Names of functions for lines that have no room for the arguments of templates, the types of
// parameters, and what is returned.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "report/thread_trace.h"

namespace whocall {

// "std::map<int, std::vector<char>>::find(int)" as "std::map<int, std::vector<...>>::find(int)" for
// `kept` = 1 and "std::map<...>::find(int)" for 0: lists of arguments stay `kept` deep. Scopes stay
// whole, also those in brackets ("<T as Clone>::clone", "<lambda()>"), and so does a name whose
// brackets do not match, or one of more than 16 KiB.
std::string without_arguments(std::string_view name, unsigned kept);

// "int ns::f<char>(int)" as "ns::f<char>(int)", as gdb shows it; the name itself where it is not
// certain where it begins.
std::string without_return_type(std::string_view name);

// "f(int, char const*)::{lambda(long)#1}" as "f(...)::{lambda(...)#1}": gdb's lines have no types
// of parameters either. "(anonymous namespace)", Go's receivers and Swift's labels are scopes and
// names, they stay.
std::string without_parameters(std::string_view name);

// Each form leaves out what the one before does, and more: lists of arguments more than 1 deep; all
// of them; the type that is returned; those of parameters.
inline constexpr unsigned kNameForms = 4;
std::string short_form(std::string_view name, unsigned form);

// Which forms stand for one name alone.
class NameForms {
 public:
  // One of the names that have to stay different.
  void add(std::string_view name);
  // The longest form of `name` that has at most `room` characters; the shortest where none has.
  [[nodiscard]] std::string fit(std::string_view name, std::size_t room) const;

 private:
  using Texts = std::unordered_set<std::string>;
  Texts names_;
  std::array<Texts, kNameForms> known_;
  std::array<Texts, kNameForms> shared_;  // those that stand for several names
};

class ShortNames {
 public:
  // `traces` must outlive it: among the functions of these, names stay different.
  explicit ShortNames(std::span<const ThreadTrace> traces) : traces_(traces) {}

  // As NameForms::fit.
  std::string fit(std::string_view name, std::size_t room);

 private:
  std::span<const ThreadTrace> traces_;
  std::optional<NameForms> forms_;  // a miss until the first name does not fit
};

}  // namespace whocall
