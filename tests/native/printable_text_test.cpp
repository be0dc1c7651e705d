// Names as they are shown: in text, and in JSON.
#include "base/printable_text.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/json_text.h"

namespace whocall::test {
namespace {

using namespace std::string_view_literals;

std::string told(std::string_view text) {
  std::string out;
  append_printable(out, text);
  CHECK((find_unprintable(text) == text.size()) == (out == text));
  std::string again;
  append_printable(again, out);
  CHECK(again == out);
  return out;
}

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST_CASE("printable: what can be seen stays as it is") {
  for (const std::string_view text :
       {""sv, "main"sv, "std::vector<int>::at(unsigned long) const ~ { } | \\n"sv,
        "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xef\xbf\xbd \xee\x80\x80"sv}) {
    CHECK(told(text) == text);
  }
}

TEST_CASE("printable: what a terminal or a reader of lines would obey is told") {
  CHECK(told("a\n#1 0x401000 in trusted_fn () at safe.c:1 [cfi]") ==
        "a\\n#1 0x401000 in trusted_fn () at safe.c:1 [cfi]");
  CHECK(told("\t\r\x1b[8m\0\x07\x7f"sv) == "\\t\\r\\x1b[8m\\x00\\x07\\x7f");
  CHECK(told("\xc2\x9b\xc2\x85") == "\\u009b\\u0085");  // C1: CSI, NEL
  CHECK(told("\xe2\x80\xae\xe2\x81\xa9\xd8\x9c") == "\\u202e\\u2069\\u061c");
  CHECK(told("\xe2\x80\xa8\xe2\x80\x8b\xef\xbb\xbf") == "\\u2028\\u200b\\ufeff");
  CHECK(told("\xef\xbf\xbf\xf0\x9f\xbf\xbe\xf3\xa0\x81\x81") ==
        "\\uffff\\U0001fffe\\U000e0041");  // noncharacters, a tag
}

TEST_CASE("printable: bytes that are no UTF-8 are told as bytes") {
  CHECK(told("\xff\xc0\x80") == "\\xff\\xc0\\x80");
  CHECK(told("\xe2\x82x\xf0\x9f\x98") == "\\xe2\\x82x\\xf0\\x9f\\x98");  // cut short
  CHECK(told("\xe0\x80\x80") == "\\xe0\\x80\\x80");                      // overlong
  CHECK(told("\xed\xa0\x80") == "\\xed\\xa0\\x80");                      // a surrogate
  CHECK(told("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");             // beyond the last plane
}

TEST_CASE("printable: wherever it stands") {
  for (std::size_t at = 0; at < 40; ++at) {
    for (const std::string_view each : {"\n"sv, "\x7f"sv, "\xff"sv, "\xe2\x80\xae"sv}) {
      std::string text(40, 'x');
      text.insert(at, each);
      CHECK(find_unprintable(text) == at);
      CHECK(told(text).size() > text.size());
    }
  }
}

TEST_CASE("printable: characters are counted") {
  CHECK(character_count("") == 0);
  CHECK(character_count("main") == 4);
  CHECK(character_count("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80") == 5);
  std::string text;  // of every length and at every place of a word
  for (std::size_t count = 0; count < 40; count += 2) {
    CHECK(character_count(text) == count);
    text += "a\xe2\x82\xac";
  }
}

TEST_CASE("JSON text: as Python's encoder escapes, and what is not printable") {
  CHECK(quoted("") == "\"\"");
  CHECK(quoted("a\"\\/\0\x01\x1f\xc3\xbc"sv) == "\"a\\\"\\\\/\\u0000\\u0001\\u001f\xc3\xbc\"");
  CHECK(quoted("\b\t\n\v\f\r") == "\"\\b\\t\\n\\u000b\\f\\r\"");
  CHECK(quoted("\x7f\xc2\x9b\xe2\x80\xae") == "\"\\u007f\\u009b\\u202e\"");
  CHECK(quoted("\xf3\xa0\x81\x81") == "\"\\udb40\\udc41\"");
  CHECK(quoted("\xff\xed\xa0\x80") == "\"\\udcff\\udced\\udca0\\udc80\"");
}

}  // namespace
}  // namespace whocall::test
