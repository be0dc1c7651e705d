// Names of functions for lines that have no room for the arguments of templates.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "report/thread_trace.h"

namespace whocall {

// "std::map<int, std::vector<char>>::find(int)" as "std::map<int, std::vector<...>>::find(int)" for
// `kept` = 1 and "std::map<...>::find(int)" for 0: lists of arguments stay `kept` deep. Scopes stay
// whole, also those in brackets ("<T as Clone>::clone", "<lambda()>"), and so does a name whose
// brackets do not match.
std::string without_arguments(std::string_view name, unsigned kept);

class ShortNames {
 public:
  // `traces` must outlive it: among the functions of these, names stay different.
  explicit ShortNames(std::span<const ThreadTrace> traces) : traces_(traces) {}

  // The longest form of `name` that has at most `room` characters; the shortest where none has.
  std::string fit(std::string_view name, std::size_t room);

 private:
  static constexpr unsigned kForms = 2;  // by how deep lists of arguments stay

  void look();
  [[nodiscard]] bool is_shared(unsigned kept, const std::string& form) const;

  std::span<const ThreadTrace> traces_;
  bool looked_ = false;  // the names are looked at when the first one does not fit
  // Those that stand for several names.
  std::set<std::string, std::less<>> shared_[kForms];
};

}  // namespace whocall
