#include "report/short_names.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/printable_text.h"

namespace whocall {
namespace {

constexpr std::string_view kLeftOut = "...";
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAnonymous = "(anonymous namespace)";
// Bytes; a longer name stays as it is. Brackets in brackets are a call in a call each.
constexpr std::size_t kLongestShortened = std::size_t{1} << 14U;

bool is_word(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '$' ||
         static_cast<unsigned char>(character) >= 0x80;
}

class Shortener {
 public:
  explicit Shortener(std::string_view name) : name_(name) { find_pairs(); }

  // Of what lists stay.
  struct Kept {
    unsigned arguments = 0;  // so deep
    bool parameters = true;
  };

  // False where brackets do not match.
  bool append(std::string& out, std::size_t begin, std::size_t end, Kept kept) const {
    for (std::size_t at = begin; at < end;) {
      const std::size_t after = passed(at);
      const bool opens = after == at && name_[at] == '<';
      if (opens || (after == at && !kept.parameters && opens_parameters(at))) {
        const std::size_t close = close_of(at);
        if (close >= end || !append_list(out, at, close, kept)) {
          return false;
        }
        at = close + 1;
        continue;
      }
      const std::size_t next = std::max(after, at + 1);
      out += name_.substr(at, next - at);
      at = next;
    }
    return true;
  }

  // Where the name of the function itself begins, behind the type that it returns; 0 where that is
  // not certain. Types end before the first list of parameters or an operator's sign.
  [[nodiscard]] std::size_t name_begin() const {
    std::size_t begin = 0;
    std::size_t at = 0;
    for (; at < name_.size() && !opens_parameters(at) && !is_operator(at); ++at) {
      const char character = name_[at];
      if (character == '{') {  // of a lambda, or of a type of Go's
        return 0;
      }
      at = character == '<' || character == '(' ? close_of(at) : at;
      begin = character == ' ' ? at + 1 : begin;
    }
    const std::string_view type = name_.substr(0, begin);
    const std::string_view rest = name_.substr(begin);
    const bool is_thunk = type.ends_with(" to ") || type.ends_with(" for ");
    // "int (&f<char>())[3]": the name stands inside of the type.
    const bool is_inside = rest.starts_with('(') && !rest.starts_with(kAnonymous);
    return at >= name_.size() || is_thunk || is_inside ? 0 : begin;
  }

 private:
  // The list with its brackets. Where the brackets are a scope, all inside stays but arguments.
  bool append_list(std::string& out, std::size_t open, std::size_t close, Kept kept) const {
    const std::string_view list = name_.substr(open + 1, close - open - 1);
    const bool is_scope = name_[open] == '<' && !begins_arguments(open);
    out += name_[open];
    if (is_scope || (name_[open] == '<' && kept.arguments != 0)) {
      const Kept inside = {kept.arguments - (is_scope ? 0 : 1), is_scope || kept.parameters};
      if (!append(out, open + 1, close, inside)) {
        return false;
      }
    } else {
      const bool stays =
          list.size() <= kLeftOut.size() || list.find(": ") != std::string_view::npos;
      out += stays ? list : kLeftOut;
    }
    out += name_[close];
    return true;
  }

  [[nodiscard]] bool is_operator(std::size_t at) const {
    return name_.substr(at).starts_with(kOperator) && (at == 0 || !is_word(name_[at - 1]));
  }

  // Of a function or a lambda that is called so; not "(anonymous namespace)", and not the receiver
  // of "main.(*table).find".
  [[nodiscard]] bool opens_parameters(std::size_t at) const {
    if (at == 0 || name_[at] != '(') {
      return false;
    }
    const std::string_view before = name_.substr(0, at);
    const char last = before.back();
    return is_word(last) || std::string_view(">)]\'=+-/%^|~").find(last) != std::string_view::npos;
  }

  // Behind the sign of an operator function ("operator<<", "operator->") or an arrow that begins
  // at `at`; `at` where none does.
  [[nodiscard]] std::size_t passed(std::size_t at) const {
    if (name_.substr(at).starts_with("->")) {
      return at + 2;
    }
    if (!is_operator(at)) {
      return at;
    }
    const std::size_t sign = at + kOperator.size();
    const std::size_t end = name_.find_first_not_of("<>=-*", sign);
    return std::min(end, name_.size());
  }

  // Of what is called so: in Rust's "<T as Clone>::clone" and in "<lambda()>" the brackets are a
  // scope of their own.
  [[nodiscard]] bool begins_arguments(std::size_t at) const {
    if (at == 0) {
      return false;
    }
    const char before = name_[at - 1];
    if (is_word(before) || before == '}' || before == ')') {
      return true;
    }
    const std::string_view inside = name_.substr(at + 1);
    return before == ':' && !inside.starts_with("impl ") && !inside.starts_with("lambda");
  }

  // The bracket that closes the one at `at`; the name's size where none does, or where none opens.
  [[nodiscard]] std::size_t close_of(std::size_t at) const {
    const auto found = std::ranges::lower_bound(pairs_, at, {}, &Pair::open);
    return found != pairs_.end() && found->open == at ? found->close : name_.size();
  }

  // Once for a name: its brackets may lie thousands deep in one another. Each kind is counted for
  // itself, as "operator<(" closes what it opens.
  void find_pairs() {
    std::vector<std::size_t> angles;
    std::vector<std::size_t> parentheses;
    for (std::size_t at = 0; at < name_.size(); ++at) {
      const char character = name_[at];
      if (character == '(' || character == ')') {
        step(parentheses, at, character == '(');
        continue;
      }
      const std::size_t after = passed(at);
      if (after != at) {
        at = after - 1;
      } else if (character == '<' || character == '>') {
        step(angles, at, character == '<');
      }
    }
    std::ranges::sort(pairs_, {}, &Pair::open);
  }

  void step(std::vector<std::size_t>& open, std::size_t at, bool opens) {
    if (opens) {
      open.push_back(at);
    } else if (!open.empty()) {
      pairs_.push_back({open.back(), at});
      open.pop_back();
    }
  }

  struct Pair {
    std::size_t open;
    std::size_t close;
  };

  std::string_view name_;
  std::vector<Pair> pairs_;  // by where they open
};

}  // namespace

std::string without_arguments(std::string_view name, unsigned kept) {
  if (name.size() > kLongestShortened) {
    return std::string(name);
  }
  std::string out;
  return Shortener(name).append(out, 0, name.size(), {.arguments = kept}) ? out : std::string(name);
}

std::string without_return_type(std::string_view name) {
  if (name.size() > kLongestShortened) {
    return std::string(name);
  }
  return std::string(name.substr(Shortener(name).name_begin()));
}

std::string without_parameters(std::string_view name) {
  constexpr unsigned kAll = ~0U;
  const bool is_category = name.starts_with("-[") || name.starts_with("+[");  // Objective-C's
  if (is_category || name.size() > kLongestShortened) {
    return std::string(name);
  }
  std::string out;
  const Shortener::Kept kept = {.arguments = kAll, .parameters = false};
  return Shortener(name).append(out, 0, name.size(), kept) ? out : std::string(name);
}

std::string short_form(std::string_view name, unsigned form) {
  std::string made = without_arguments(name, form == 0 ? 1 : 0);
  made = form >= 2 ? without_return_type(made) : made;
  return form >= 3 ? without_parameters(made) : made;
}

void NameForms::add(std::string_view name) {
  if (!names_.emplace(name).second) {
    return;
  }
  for (unsigned which = 0; which < kNameForms; ++which) {
    std::string form = short_form(name, which);
    if (!known_[which].insert(form).second) {
      shared_[which].insert(std::move(form));
    }
  }
}

std::string NameForms::fit(std::string_view name, std::size_t room) const {
  std::string best(name);
  for (unsigned which = 0; which < kNameForms && character_count(best) > room; ++which) {
    std::string form = short_form(name, which);
    if (form.size() < best.size() && !shared_[which].contains(form)) {
      best = std::move(form);
    }
  }
  return best;
}

std::string ShortNames::fit(std::string_view name, std::size_t room) {
  if (character_count(name) <= room) {
    return std::string(name);
  }
  if (!forms_) {
    forms_.emplace();
    std::unordered_set<std::string_view> names;
    for (const ThreadTrace& trace : traces_) {
      for (std::size_t i = 0; i < trace.shown.count; ++i) {
        names.insert(trace.frame(i).named().function());
      }
    }
    for (const std::string_view name_of_one : names) {
      forms_->add(name_of_one);
    }
  }
  return forms_->fit(name, room);
}

}  // namespace whocall
