#include "unwind/walk/named_frames.h"

#include <algorithm>

namespace whocall {
namespace {

bool is_main(const NamedFrame& frame) {
  const Module* module = frame.place->module;
  return module != nullptr && module->is_executable && frame.function() == "main";
}

}  // namespace

const SourceLine& NamedFrame::source() const {
  static const SourceLine kNone;
  return place->lines.empty() ? kNone : place->lines[call];
}

std::vector<NamedFrame> name_frames(const Backtrace& backtrace, Symbolizer& symbolizer,
                                    NamingOptions options, bool lines_past_main) {
  std::vector<NamedFrame> named;
  named.reserve(backtrace.frames.size());
  for (const Frame& frame : backtrace.frames) {
    // No line is claimed where the call is not known to have led to the frame below.
    NamingOptions wanted = options;
    wanted.lines = options.lines && !frame.evidence.has(Evidence::call_elsewhere);
    const Place& place = symbolizer.describe(frame.lookup_pc(), wanted);
    const std::size_t calls = std::max<std::size_t>(place.lines.size(), 1);
    for (std::uint32_t call = 0; call < calls; ++call) {
      named.push_back({&frame, &place, static_cast<std::uint32_t>(named.size()), call});
    }
    options.lines = options.lines && (lines_past_main || !is_main(named.back()));
  }
  return named;
}

}  // namespace whocall
