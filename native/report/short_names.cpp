#include "report/short_names.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/printable_text.h"

namespace whocall {
namespace {

constexpr std::string_view kLeftOut = "...";
constexpr std::string_view kOperator = "operator";

bool is_word(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '$' ||
         static_cast<unsigned char>(character) >= 0x80;
}

class Shortener {
 public:
  explicit Shortener(std::string_view name) : name_(name) {}

  // False where brackets do not match.
  bool append(std::string& out, std::size_t begin, std::size_t end, unsigned kept) const {
    for (std::size_t at = begin; at < end;) {
      const std::size_t after = passed(at);
      if (after == at && name_[at] == '<' && begins_arguments(at)) {
        const std::size_t close = close_of(at);
        if (close >= end || !append_list(out, at + 1, close, kept)) {
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

 private:
  bool append_list(std::string& out, std::size_t begin, std::size_t end, unsigned kept) const {
    out += '<';
    if (kept != 0) {
      if (!append(out, begin, end, kept - 1)) {
        return false;
      }
    } else {
      const std::string_view list = name_.substr(begin, end - begin);
      out += list.size() <= kLeftOut.size() ? list : kLeftOut;
    }
    out += '>';
    return true;
  }

  // Behind the sign of an operator function ("operator<<", "operator->") or an arrow that begins
  // at `at`; `at` where none does.
  [[nodiscard]] std::size_t passed(std::size_t at) const {
    if (name_.substr(at).starts_with("->")) {
      return at + 2;
    }
    if (!name_.substr(at).starts_with(kOperator) || (at != 0 && is_word(name_[at - 1]))) {
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

  // The bracket that closes the one at `at`; the name's size where none does.
  [[nodiscard]] std::size_t close_of(std::size_t at) const {
    std::size_t open = 0;
    while (at < name_.size()) {
      const std::size_t after = passed(at);
      if (after != at) {
        at = after;
        continue;
      }
      open += name_[at] == '<' ? 1 : 0;
      if (name_[at] == '>' && --open == 0) {
        return at;
      }
      ++at;
    }
    return at;
  }

  std::string_view name_;
};

}  // namespace

std::string without_arguments(std::string_view name, unsigned kept) {
  std::string out;
  return Shortener(name).append(out, 0, name.size(), kept) ? out : std::string(name);
}

std::string ShortNames::fit(std::string_view name, std::size_t room) {
  std::string best(name);
  if (character_count(best) <= room) {
    return best;
  }
  look();
  for (unsigned kept = kForms; kept-- != 0 && character_count(best) > room;) {
    std::string form = without_arguments(name, kept);
    if (form.size() < best.size() && !is_shared(kept, form)) {
      best = std::move(form);
    }
  }
  return best;
}

bool ShortNames::is_shared(unsigned kept, const std::string& form) const {
  return shared_[kept].contains(form);
}

void ShortNames::look() {
  if (looked_) {
    return;
  }
  looked_ = true;
  std::unordered_set<std::string_view> names;
  for (const ThreadTrace& trace : traces_) {
    for (std::size_t i = 0; i < trace.shown.count; ++i) {
      names.insert(trace.frame(i).named().function());
    }
  }
  for (unsigned kept = 0; kept < kForms; ++kept) {
    std::set<std::string> forms;
    for (const std::string_view name : names) {
      std::string form = without_arguments(name, kept);
      if (!forms.insert(form).second) {
        shared_[kept].insert(std::move(form));
      }
    }
  }
}

}  // namespace whocall
