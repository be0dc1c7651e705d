// Arguments as text: numbers, and what they point to.
#pragma once

#include <cstddef>
#include <string>

#include "arguments/arguments.h"
#include "process/process_image.h"
#include "symbols/symbolizer.h"

namespace whocall {

struct ArgumentForm {
  std::size_t characters = 200;  // of a text, at most: gdb's print elements
};

class ArgumentText {
 public:
  // All must outlive it.
  ArgumentText(const ProcessImage& process, Symbolizer& symbolizer, ArgumentForm form)
      : process_(process), symbolizer_(symbolizer), form_(form) {}

  // "(0x7ffe5d94d3d8, 3, \"late\")". What is not known is "?", and behind what may have changed
  // since stands one.
  [[nodiscard]] std::string list(const FrameArguments& arguments) const;

 private:
  void append(std::string& text, const Argument& argument) const;
  void append_pointed(std::string& text, Address value) const;
  [[nodiscard]] std::string text_at(Address address) const;

  const ProcessImage& process_;
  Symbolizer& symbolizer_;
  ArgumentForm form_;
};

}  // namespace whocall
