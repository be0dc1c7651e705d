// Frames as a reader sees them: with names and lines, and with a frame of its own for every call
// that the compiler inlined.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "symbols/symbolizer.h"
#include "unwind/walk/backtrace.h"

namespace whocall {

struct NamedFrame {
  unsigned level = 0;
  const Frame* frame = nullptr;  // inlined frames share it with the frame that holds them
  const Place* place = nullptr;
  bool inlined = false;
  std::string_view function;  // of the place; empty when nothing is known
  std::string_view file;      // of the place; empty without debug info
  unsigned line = 0;
};

// The result points into `backtrace` and `symbolizer`. Unless `lines_past_main`, the callers of the
// program's `main` go without lines: who does not show them need not wait for the C library's.
std::vector<NamedFrame> name_frames(const Backtrace& backtrace, Symbolizer& symbolizer,
                                    NamingOptions options, bool lines_past_main = true);

}  // namespace whocall
