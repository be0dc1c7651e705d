// A .xz file unpacked into memory: distributions keep the symbols of static functions in a section
// of that form (.gnu_debugdata).
// Source: "The .xz File Format" 1.1.0.
#pragma once

#include <cstddef>

namespace whocall::runtime {

struct Unpacked {
  const std::byte* bytes = nullptr;  // null: it is damaged, or of a form that nobody uses for this
  std::size_t size = 0;
};

// Maps memory that stays. Checksums are not looked at: what comes out is an ELF file or is refused.
Unpacked unpack_xz(const std::byte* bytes, std::size_t size);

}  // namespace whocall::runtime
