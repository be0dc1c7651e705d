// How much a mangled name can make of a demangler: names of a few hundred bytes may double what
// they tell forty times.
#pragma once

#include <cstddef>
#include <string_view>

namespace whocall {

// The longest name that is handed to a demangler, and the longest answer that is waited for. Those
// of compilers are shorter; a longer name stays as it is.
inline constexpr std::size_t kLongestMangled = std::size_t{1} << 16U;    // bytes
inline constexpr std::size_t kLongestDemangled = std::size_t{1} << 16U;  // bytes

// Whether the name may have its demangler work without writing anything, which nobody could stop,
// or without an end to what it writes where nobody is asked. May be true of a name that is harmless
// in truth; of one that a compiler writes only where an identifier of Rust's has FG or DG, three
// letters or more, and a line below them.
bool has_endless_work(std::string_view mangled);

}  // namespace whocall
