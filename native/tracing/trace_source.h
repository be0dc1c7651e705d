// The threads that a traced program recorded, and the reader of a trace's own file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tracing/trace_thread.h"

namespace whocall {

// The trace in a file's bytes, of which there are `size`; `path` is for messages. Throws Error.
TraceSource read_trace(std::shared_ptr<const TraceBytes> bytes, std::uint64_t size,
                       const std::string& path);

// Opens a file that WHOCALL_TRACE_FILE named. Throws Error.
TraceSource open_trace_file(const std::string& path);

// Whether the file begins as those do.
bool is_trace_file(const std::string& path);

}  // namespace whocall
