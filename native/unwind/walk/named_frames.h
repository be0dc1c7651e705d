// Frames as a reader sees them: with names and lines, and with a frame of its own for every call
// that the compiler inlined.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/symbolizer.h"
#include "unwind/backtrace.h"

namespace whocall {

struct NamedFrame {
  const Frame* frame = nullptr;  // inlined frames share it with the frame that holds them
  const Place* place = nullptr;
  std::uint32_t level = 0;
  std::uint32_t call = 0;  // of the place's lines: which one is the frame's own

  [[nodiscard]] bool inlined() const { return std::size_t{call} + 1 < place->lines.size(); }
  // Empty when nothing is known.
  [[nodiscard]] std::string_view function() const {
    return place->function && !inlined() ? place->function->name : source().function;
  }
  // Empty without debug info.
  [[nodiscard]] std::string_view file() const { return source().file; }
  // See SourceLine::directory.
  [[nodiscard]] std::string_view directory() const { return source().directory; }
  [[nodiscard]] unsigned line() const { return source().line; }

 private:
  [[nodiscard]] const SourceLine& source() const;
};

// The result points into `backtrace` and `symbolizer`. Unless `lines_past_main`, the callers of the
// program's `main` go without lines: who does not show them need not wait for the C library's.
std::vector<NamedFrame> name_frames(const Backtrace& backtrace, Symbolizer& symbolizer,
                                    NamingOptions options, bool lines_past_main = true);

}  // namespace whocall
