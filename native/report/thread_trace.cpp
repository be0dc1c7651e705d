#include "report/thread_trace.h"

namespace whocall {
namespace {

void cut_at_main(ThreadTrace& trace) {
  for (std::size_t i = 0; i + 1 < trace.shown.count; ++i) {
    const NamedFrame& named = trace.frame(i).named();
    const Module* const module = named.place->module;
    if (module != nullptr && module->is_executable && !named.inlined() &&
        named.function() == "main") {
      trace.shown.count = i + 1;
      trace.stop = {StopReason::main, "main of the program"};
      return;
    }
  }
}

void take(ThreadTrace& trace, std::int64_t count) {
  FrameRange& shown = trace.shown;
  const auto wanted = static_cast<std::size_t>(count < 0 ? -count : count);
  if (wanted >= shown.count) {
    return;
  }
  if (count < 0) {
    shown.first = shown.count - wanted;
  } else {
    trace.stop = {StopReason::count, {}};
  }
  shown.count = wanted;
}

}  // namespace

ThreadTrace shown_trace(const Thread& thread, const NamedWalk& walk, const ShownPart& part) {
  ThreadTrace trace{&thread, &walk, {.count = walk.size()}, walk.stop()};
  if (!part.past_main) {
    cut_at_main(trace);
  }
  if (part.count) {
    take(trace, *part.count);
  }
  return trace;
}

}  // namespace whocall
