// The call trace in the memory of a process or core.
#pragma once

#include "process/process_image.h"
#include "tracing/trace_thread.h"

namespace whocall {

// Looks for the regions of threads: by the note that leads to the list of them, else at every page.
// The process must outlive the result. Throws Error when there are none.
TraceSource find_trace(const ProcessImage& process);

}  // namespace whocall
