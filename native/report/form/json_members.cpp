#include "report/form/json_members.h"

#include <array>
#include <charconv>

namespace whocall {
namespace {

void append_number(std::string& text, std::uint64_t value, int base) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
  text.append(digits.data(), end);
}

}  // namespace

JsonMembers::JsonMembers(std::string& text, std::size_t margin) : text_(text), line_("\n") {
  line_.append(margin + 1, ' ');
  text_ += '{';
}

void JsonMembers::name(std::string_view key) {
  text_ += first_ ? "" : ",";
  first_ = false;
  ((text_ += line_) += '"').append(key) += "\": ";
}

void JsonMembers::number(std::string_view key, std::optional<std::uint64_t> value) {
  name(key);
  if (value) {
    append_number(text_, *value, 10);
  } else {
    text_ += "null";
  }
}

void JsonMembers::integer(std::string_view key, std::int64_t value) {
  name(key);
  text_ += std::to_string(value);
}

void JsonMembers::address(std::string_view key, std::optional<Address> value) {
  name(key);
  if (value) {
    text_ += "\"0x";
    append_number(text_, *value, 16);
    text_ += '"';
  } else {
    text_ += "null";
  }
}

void JsonMembers::string(std::string_view key, std::string_view value) {
  name(key);
  if (value.empty()) {
    text_ += "null";
  } else {
    append_json_string(text_, value);
  }
}

void JsonMembers::truth(std::string_view key, bool value) {
  name(key);
  text_ += value ? "true" : "false";
}

}  // namespace whocall
