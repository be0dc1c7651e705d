// Arguments as text: numbers, and what they point to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/shown_arguments.h"
#include "symbols/symbolizer.h"

namespace whocall {

// As gdb's `set print frame-arguments`: values of scalars, that there are some, or dots for each.
enum class ArgumentDisplay : std::uint8_t { values, presence, none };

struct ArgumentForm {
  ArgumentDisplay display = ArgumentDisplay::values;
  std::size_t characters = 200;  // of a text, at most: gdb's `set print elements`
};

// What a pointer points to, as far as that can be told; empty where it cannot.
struct Pointed {
  std::string text{};      // bytes up to a zero, where all of them are printable
  bool text_ends = true;   // false: it goes on
  std::string function{};  // that begins there
};

class ArgumentText {
 public:
  // All must outlive it.
  ArgumentText(CodeValues& code, Symbolizer& symbolizer, ArgumentForm form)
      : process_(code.process()), shown_(code), symbolizer_(symbolizer), form_(form) {}

  // Of a frame of the trace; null where nothing is known.
  const FrameArguments* find(const ThreadTrace& trace, const FrameFacts& facts) {
    return shown_.of(trace, facts);
  }
  // What the one at this position points to.
  [[nodiscard]] Pointed pointed(const FrameArguments& arguments, std::size_t position) const;

  // "(0x7ffe5d94d3d8,", "3,", "\"late\")": where lines may break. What is not known is "?", and
  // behind what may have changed since stands one. All of it is printable.
  [[nodiscard]] std::vector<std::string> list(const FrameArguments& arguments) const;

  // One of them, as it stands in the list: `3`, `0x55d5e786b010 "soon"`, `?`.
  [[nodiscard]] std::string shown(const FrameArguments& arguments, std::size_t position) const;

  // Whether it is as wide as a pointer, and leads to mapped memory.
  [[nodiscard]] bool may_be_pointer(const Argument& argument) const;

  // How each is known, in a sentence; empty where there are none.
  [[nodiscard]] static std::string explanation(const FrameArguments& arguments);

 private:
  [[nodiscard]] unsigned size_of(const Argument& argument) const;
  void read_text(Address address, Pointed& found) const;
  // Whether the text of that size may be a pointer.
  [[nodiscard]] bool holds_pointer(Address address, std::size_t size) const;
  // The next one, where it may be a length.
  [[nodiscard]] std::optional<std::uint64_t> length_behind(const FrameArguments& arguments,
                                                           std::size_t position) const;
  [[nodiscard]] bool is_of_rust(Address text) const;

  const ProcessImage& process_;
  ShownArguments shown_;
  Symbolizer& symbolizer_;
  ArgumentForm form_;
  mutable std::map<const Module*, bool> of_rust_{};  // as far as was asked
};

}  // namespace whocall
