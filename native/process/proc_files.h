// The text files that the kernel shows about a process under /proc/PID.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/process_image.h"

namespace whocall {

// The whole of a file; empty optional when it cannot be read.
std::optional<std::string> read_proc_file(const std::string& path);

// The rows of /proc/PID/maps in their order; rows that make no sense are left out. Names in
// brackets ([heap], [vdso]) are no files: their mappings have no path.
std::vector<Mapping> parse_maps(std::string_view text);

// The value after "NAME:" in /proc/PID/status, without white space around it; empty when absent.
std::string status_field(std::string_view text, std::string_view name);

// The thread ids under /proc/PID/task; empty when the process is gone.
std::vector<std::int64_t> thread_ids(std::int64_t pid);

}  // namespace whocall
