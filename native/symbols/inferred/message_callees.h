// The functions that get the name of their caller, to tell it to the user.
#pragma once

#include <string_view>

namespace whocall {

struct MessageCallee {
  std::string_view name;
  unsigned argument;   // that is the caller's name, from 0
  bool never_returns;  // and its headers say so to compilers
};

// By its name; null for any other.
const MessageCallee* message_callee(std::string_view name);

// By what it prints, where it has no name any more; null for any other text.
//
// Folklore. Situation: a static program without symbols, and few functions of it assert something.
// Example: glibc's own assertions went through __assert_fail up to 2.36, which was known by so many
// callers; later ones go elsewhere. Remedy: who takes the text that __assert_fail prints is it.
const MessageCallee* message_callee_that_prints(std::string_view format);

}  // namespace whocall
