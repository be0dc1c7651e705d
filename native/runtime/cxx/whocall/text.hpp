// Stack traces as text, for terminals and logs, and as JSON.
#ifndef WHOCALL_TEXT_HPP
#define WHOCALL_TEXT_HPP

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include <whocall/printed.hpp>
#include <whocall/stacktrace.hpp>

namespace whocall {

struct text_options {
  bool color = false;      // with the sequences of terminals
  bool addresses = false;  // of each frame
  unsigned around = 0;     // lines of the source before and behind each line that is shown; 0: none
  bool snippets = false;   // that line itself, and those around it, where the file is there
};

namespace detail {

// Tabs as the spaces that they stand for.
inline std::string without_tabs(std::string_view line) {
  std::string shown;
  for (const char each : line) {
    shown.append(each == '\t' ? 8 - shown.size() % 8 : 1, each == '\t' ? ' ' : each);
  }
  return shown;
}

inline std::string painted(std::string_view text, const char* code, bool color) {
  return color ? "\033[" + std::string(code) + "m" + harmless(text) + "\033[m" : harmless(text);
}

inline void append_snippet(std::string& text, const source_place& place, const text_options& form) {
  std::ifstream file(place.file);
  std::string line;
  for (std::uint_least32_t at = 1; at <= place.line + form.around && std::getline(file, line);
       ++at) {
    if (at + form.around >= place.line) {
      const std::string row =
          (at == place.line ? "  > " : "    ") + std::to_string(at) + ": " + without_tabs(line);
      text += "\n   " + painted(row, at == place.line ? "1" : "2", form.color);
    }
  }
}

inline void append_place(std::string& text, const source_place& place, const text_options& form) {
  if (place.file.empty()) {
    return;
  }
  text += " at " + painted(place.file, "32", form.color);
  if (place.line != 0) {
    text += ":" + std::to_string(place.line);
  }
  std::error_code error;
  if (form.snippets && place.line != 0 && std::filesystem::is_regular_file(place.file, error)) {
    append_snippet(text, place, form);
  }
}

// `place` of calls that were inlined; of the function itself the entry says what is lacking.
inline std::string row(const stacktrace_entry& entry, const source_place& place, bool is_inlined,
                       const text_options& form) {
  std::string name = place.function.empty() && !is_inlined ? entry.description() : place.function;
  std::string text;
  if (form.addresses) {
    text += painted(in_hex(entry.native_handle()), "34", form.color) + " ";
  }
  if (name.empty()) {
    const std::string module = entry.module();
    name = (module.empty() ? "?" : module) + "+" + in_hex(entry.module_offset());
  }
  text += "in " + painted(name, "33", form.color) + (is_inlined ? " [inlined]" : "");
  append_place(text, place, form);
  return text;
}

}  // namespace detail

// A line for each frame and each call that was inlined there: "#1  in by_total at orders.cpp:31".
template <class Allocator>
std::string to_text(const basic_stacktrace<Allocator>& trace, const text_options& form = {}) {
  std::string text;
  std::size_t number = 0;
  for (const stacktrace_entry& entry : trace) {
    auto places = entry.source_lines();
    if (places.empty()) {
      places.emplace_back();
    }
    for (std::size_t at = 0; at < places.size(); ++at) {
      const std::string label = "#" + std::to_string(number);
      text += label + std::string(label.size() < 3 ? 4 - label.size() : 1, ' ');
      text += detail::row(entry, places[at], at + 1 < places.size(), form) + "\n";
    }
    ++number;
  }
  return text;
}

// "by_total at orders.cpp:31", as C++23's.
inline std::string to_string(const stacktrace_entry& entry) {
  const auto places = entry.source_lines();
  return detail::row(entry, places.empty() ? source_place() : places.front(), places.size() > 1, {})
      .substr(3);
}
template <class Allocator>
std::string to_string(const basic_stacktrace<Allocator>& trace) {
  return to_text(trace);
}

inline std::ostream& operator<<(std::ostream& out, const stacktrace_entry& entry) {
  return out << to_string(entry);
}
template <class Allocator>
std::ostream& operator<<(std::ostream& out, const basic_stacktrace<Allocator>& trace) {
  return out << to_text(trace);
}

// To a descriptor of a file: coloured, and with the lines of the source, where that is a terminal.
template <class Allocator>
void print(std::FILE* out, const basic_stacktrace<Allocator>& trace) {
  text_options form;
  form.color = form.snippets = ::isatty(::fileno(out)) == 1;
  form.around = form.snippets ? 1 : 0;
  const std::string text = to_text(trace, form);
  std::fwrite(text.data(), 1, text.size(), out);
}

// [{"address": "0x...", "module": "...", "offset": "0x...", "function": "...", "lines": [...]}]
template <class Allocator>
std::string to_json(const basic_stacktrace<Allocator>& trace) {
  std::string text = "[";
  for (const stacktrace_entry& entry : trace) {
    text += text.size() > 1 ? ",\n {" : "{";
    text += "\"address\": \"" + detail::in_hex(entry.native_handle()) + "\", \"module\": ";
    text += detail::quoted(entry.module()) + ", \"offset\": \"";
    text += detail::in_hex(entry.module_offset()) + "\", \"function\": ";
    const std::string name = entry.description();
    text += (name.empty() ? "null" : detail::quoted(name)) + ", \"lines\": [";
    bool is_first = true;
    for (const source_place& place : entry.source_lines()) {
      text += is_first ? "" : ", ";
      text += "{\"function\": " + detail::quoted(place.function) +
              ", \"file\": " + detail::quoted(place.file) +
              ", \"line\": " + std::to_string(place.line) + "}";
      is_first = false;
    }
    text += "]}";
  }
  return text + "]";
}

}  // namespace whocall

#endif
