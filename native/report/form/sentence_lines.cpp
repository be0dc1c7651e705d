#include "report/form/sentence_lines.h"

#include <algorithm>

#include "base/printable_text.h"
#include "report/form/paint.h"

namespace whocall {
namespace {

constexpr std::size_t kFurther = 2;  // spaces before what is broken off

// How much of `words`, in bytes, is a line of so many characters: all, or up to the last space that
// leaves it short enough, or else up to the first one.
std::size_t line_length(std::string_view words, std::size_t room) {
  const std::size_t end = first_characters(words, room).size();
  if (end == words.size()) {
    return end;
  }
  const std::size_t space = words.rfind(' ', end);
  return space != 0 && space != std::string_view::npos ? space
                                                       : std::min(words.find(' ', 1), words.size());
}

}  // namespace

void append_broken(std::string& text, std::string_view words, std::size_t margin,
                   std::size_t columns, std::string_view code) {
  for (std::size_t indent = margin; !words.empty(); indent = margin + kFurther) {
    const std::size_t room = columns > indent + 1 ? columns - indent - 1 : 1;
    const std::size_t length = columns == 0 ? words.size() : line_length(words, room);
    text.append(indent, ' ');
    append_painted(text, code, words.substr(0, length));
    text += '\n';
    words.remove_prefix(std::min(length + 1, words.size()));  // with one space, for the line's end
  }
}

void append_sentence(std::string& text, std::string_view words, std::size_t columns) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  constexpr std::size_t kMargin = 4;
  words.remove_prefix(std::min(words.find_first_not_of(kSpace), words.size()));
  words = words.substr(0, words.find_last_not_of(kSpace) + 1);
  words = words.substr(0, words.find_last_not_of('.') + 1);
  if (words.empty()) {
    return;
  }
  std::string told;
  append_printable(told, words);
  told[0] = told[0] >= 'a' && told[0] <= 'z' ? static_cast<char>(told[0] - 'a' + 'A') : told[0];
  append_broken(text, told += '.', kMargin, columns);
}

}  // namespace whocall
