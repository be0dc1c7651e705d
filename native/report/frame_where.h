// Where a frame lies, behind its function's name: " at t.c:9", " near t.c:9? from libc.so.6", "
// from libc.so.6".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/form/file_display.h"
#include "report/form/named_walk.h"
#include "report/form/source_hints.h"

namespace whocall {

// Columns of what is not ours, as it is told.
std::size_t printable_width(std::string_view words);

struct Where {
  std::string_view before{};
  std::string_view file{};
  std::string line{};

  [[nodiscard]] std::size_t width() const {
    return before.size() + printable_width(file) + line.size();
  }
};

// `near` is what the frame's function tells of itself. The result points into all three.
Where where_of(const FrameFacts& facts, FileNames& names, const NearPlace& near);

}  // namespace whocall
