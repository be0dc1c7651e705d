#include "report/form/sentence_lines.h"

#include <doctest/doctest.h>

#include <string>

namespace whocall {
namespace {

std::string broken(std::string_view words, std::size_t margin, std::size_t columns,
                   std::string_view code = {}) {
  std::string text;
  append_broken(text, words, margin, columns, code);
  return text;
}

TEST_CASE("A sentence is broken between words, and what goes on stands farther in") {
  CHECK(broken("one two three", 0, 0) == "one two three\n");
  CHECK(broken("one two three", 0, 14) == "one two three\n");
  CHECK(broken("one two three", 0, 13) == "one two\n  three\n");
  CHECK(broken("one two three", 4, 12) == "    one two\n      three\n");
  CHECK(broken("", 4, 12).empty());
  CHECK(broken("at 'a  b'", 0, 6) == "at 'a\n   b'\n");  // one space of a name is the break's
}

TEST_CASE("A word that is longer than the screen stays whole") {
  CHECK(broken("a 0x0123456789abcdef z", 0, 8) == "a\n  0x0123456789abcdef\n  z\n");
  CHECK(broken("x y", 40, 8) == std::string(40, ' ') + "x\n" + std::string(42, ' ') + "y\n");
}

TEST_CASE("Characters are counted, not bytes, and each line is painted by itself") {
  CHECK(broken("äöü äöü", 0, 8) == "äöü äöü\n");
  CHECK(broken("äöü äöü", 0, 7) == "äöü\n  äöü\n");
  CHECK(broken("one two", 0, 5, "2") == "\x1b[2mone\x1b[0m\n  \x1b[2mtwo\x1b[0m\n");
}

TEST_CASE("A sentence has a capital letter, one full stop, and nothing unprintable") {
  std::string text;
  append_sentence(text, "  it was\nfound..", 0);
  append_sentence(text, " . ", 0);
  CHECK(text == "    It was\\nfound.\n");
}

}  // namespace
}  // namespace whocall
