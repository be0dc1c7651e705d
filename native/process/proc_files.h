// The text files that the kernel shows about a process under /proc/PID.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "process/process_image.h"

namespace whocall {

// The whole of a file; empty optional when it cannot be read.
std::optional<std::string> read_proc_file(const std::string& path);

// The rows of /proc/PID/maps in their order; rows that make no sense are left out. Names in
// brackets ([heap], [vdso]) are no files: their mappings have no path. Of a copy in a file there
// are as many as its `budget` has.
std::vector<Mapping> parse_maps(std::string_view text, Budget* budget = nullptr);

// The value after "NAME:" in /proc/PID/status, without white space around it; empty when absent.
std::string status_field(std::string_view text, std::string_view name);

// The thread ids under /proc/PID/task; empty when the process is gone.
std::vector<std::int64_t> thread_ids(std::int64_t pid);

// "/proc/PID/root" where the process sees other files than we do (a container, a chroot), else
// empty.
std::string process_root(std::int64_t pid);

// How the process was called, so much of it that a line of text has enough; empty when unknown.
CommandLine command_line_of(std::int64_t pid);

// Where a symbolic link of /proc leads; empty when it cannot be read.
std::string proc_link(const std::string& path);

}  // namespace whocall
