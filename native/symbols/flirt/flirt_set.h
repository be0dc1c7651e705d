// What FLIRT files know of the code of libraries: how each piece begins, a check sum of what
// follows, and the names in it.
//
// FLIRT is Hex-Rays' way to recognise library functions (IDA's "Fast Library Identification and
// Recognition Technology"); public collections of such files cover the libraries of distributions
// and compilers. A piece is called a module there: as a rule one function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whocall {

inline constexpr std::size_t kLongestFlirtPattern = 64;  // bytes

// What one file may hold, of all kinds together, and bytes of names and of code.
inline constexpr std::size_t kMostFlirtEntries = std::size_t{1} << 21U;
inline constexpr std::size_t kMostFlirtBytes = std::size_t{1} << 28U;
inline constexpr std::size_t kLongestFlirtName = 4096;  // bytes

// Of files that do not say which one they are for.
inline constexpr std::uint8_t kNoFlirtProcessor = 255;

// A place in FlirtSet::strings.
using FlirtText = std::uint32_t;

// How modules begin.
struct FlirtPattern {
  std::uint32_t bytes = 0;   // in FlirtSet::bytes
  std::uint64_t varies = 0;  // bit i: byte i depends on linking
  std::uint8_t size = 0;     // bytes
  std::uint32_t first_module = 0;
  std::uint32_t modules = 0;
};

struct FlirtName {
  FlirtText text = 0;        // of a function whose name the file does not tell, the empty one
  std::uint32_t offset = 0;  // in the module, bytes; ascending
  bool is_local = false;     // other modules do not see it

  [[nodiscard]] bool is_told() const { return text != 0; }
};

// Bytes of the module that have to be there, beside those of the pattern.
struct FlirtRun {
  std::uint32_t offset = 0;  // in the module, bytes
  std::uint32_t bytes = 0;   // in FlirtSet::bytes
  std::uint32_t size = 0;    // bytes
};

struct FlirtReference {
  FlirtText text = 0;
  std::uint32_t offset = 0;  // in the module, of what linking writes there, bytes
};

struct FlirtModule {
  std::uint32_t size = 0;     // bytes
  std::uint32_t checked = 0;  // where the bytes under the check sum begin: an offset in it
  std::uint8_t sum_size = 0;  // how many those are; 0: there is no check sum
  std::uint16_t sum = 0;
  std::uint32_t first_name = 0;
  std::uint32_t names = 0;
  std::uint32_t first_run = 0;
  std::uint32_t runs = 0;
  std::uint32_t first_reference = 0;
  std::uint32_t references = 0;
};

// Every index and every place lies inside its table.
struct FlirtSet {
  std::string library;                         // as the file calls it; may be empty
  std::uint8_t processor = kNoFlirtProcessor;  // IDA's number
  bool only_32_bits = false;
  bool only_64_bits = false;
  std::vector<FlirtPattern> patterns;
  std::vector<FlirtModule> modules;
  std::vector<FlirtName> names;
  std::vector<FlirtRun> runs;
  std::vector<FlirtReference> references;
  std::vector<std::byte> bytes;
  std::string strings = std::string(1, '\0');  // each ends in a NUL; the first is empty

  [[nodiscard]] std::string_view text(FlirtText place) const { return strings.c_str() + place; }
  // Whether it is still smaller than any library makes it: a few bytes of a tree become many here.
  [[nodiscard]] bool has_room() const {
    const std::size_t entries =
        patterns.size() + modules.size() + names.size() + runs.size() + references.size();
    return entries < kMostFlirtEntries && strings.size() < kMostFlirtBytes &&
           bytes.size() < kMostFlirtBytes;
  }
  [[nodiscard]] std::span<const FlirtName> names_of(const FlirtModule& module) const {
    return std::span(names).subspan(module.first_name, module.names);
  }
  FlirtText add_text(std::string_view text) {
    const auto place = static_cast<FlirtText>(strings.size());
    strings.append(text).push_back('\0');
    return place;
  }
};

}  // namespace whocall
