#include "unwind/walk/named_frames.h"

namespace whocall {
namespace {

bool is_main(const NamedFrame& frame) {
  const Module* module = frame.place->module;
  return frame.function == "main" && module != nullptr && module->is_executable;
}

}  // namespace

std::vector<NamedFrame> name_frames(const Backtrace& backtrace, Symbolizer& symbolizer,
                                    NamingOptions options, bool lines_past_main) {
  std::vector<NamedFrame> named;
  named.reserve(backtrace.frames.size());
  for (const Frame& frame : backtrace.frames) {
    const Place& place = symbolizer.describe(frame.lookup_pc(), options);
    for (std::size_t i = 0; i + 1 < place.lines.size(); ++i) {
      const SourceLine& call = place.lines[i];
      named.push_back({static_cast<unsigned>(named.size()), &frame, &place, true, call.function,
                       call.file, call.line});
    }
    NamedFrame& real = named.emplace_back();
    real.level = static_cast<unsigned>(named.size() - 1);
    real.frame = &frame;
    real.place = &place;
    if (!place.lines.empty()) {
      real.function = place.lines.back().function;
      real.file = place.lines.back().file;
      real.line = place.lines.back().line;
    }
    if (place.function) {
      real.function = place.function->name;
    }
    options.lines = options.lines && (lines_past_main || !is_main(real));
  }
  return named;
}

}  // namespace whocall
