// Sentences as lines that fit the screen.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace whocall {

// Appends printable `words` behind `margin` spaces, painted with `code`, and a newline. Where they
// reach the last of the screen's `columns` they are broken between words, and further lines stand
// two spaces farther in; a word that is longer stays whole. 0 columns: all is one line. Nothing of
// the words is lost but one space at each break.
void append_broken(std::string& text, std::string_view words, std::size_t margin,
                   std::size_t columns, std::string_view code = {});

// Appends `words`, unless there are none, in the same way: with a margin of four spaces, a capital
// letter at the start and one full stop at the end.
void append_sentence(std::string& text, std::string_view words, std::size_t columns);

}  // namespace whocall
