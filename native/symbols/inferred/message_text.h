// What compilers and authors write into messages about a place in the source.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace whocall {

// Longest text that is looked at, bytes.
inline constexpr std::size_t kLongestMessageText = 1024;

// "frobnicate": what __func__ holds in C, and in C++ for a function that is no operator.
bool is_identifier(std::string_view text);

// The function that a text names: an identifier, or the qualified name in a signature as
// __PRETTY_FUNCTION__ holds it: "ns::C::f" of "virtual void ns::C::f(int) const [with T = int]".
// A miss for any other text, and for what demanglers spell differently: operators, lambdas,
// members of templates.
std::optional<std::string> function_in_message(std::string_view text);

// The qualified name in a demangled name, without arguments: "ns::C::f" of "ns::C::f(int) const",
// "max" of "int max<int>(int, int)". The text itself where there is nothing to leave out.
std::string function_in_demangled(std::string_view text);

// "../lib/frob.c", "frob.h": what __FILE__ holds.
bool is_source_path(std::string_view text);
// Whether such a file holds inline functions.
bool is_header_path(std::string_view text);

}  // namespace whocall
