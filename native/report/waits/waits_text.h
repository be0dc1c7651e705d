// What the threads of a process wait for, as text and as JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/form/paint.h"
#include "waits/wait_cycles.h"

namespace whocall {

struct WaitsReport {
  const ProcessImage* process = nullptr;
  std::vector<Waiting> waits{};         // of all threads
  std::vector<WaitCycle> cycles{};      // of these
  std::vector<std::int64_t> numbers{};  // of the threads, by index
  std::vector<std::size_t> order{};     // in which they are told
  std::string inferior{};               // before each number of a thread
};

// A line for each thread, or for those that wait for the same, with the system call under it; then
// the cycles. Appends blocks of text to `blocks`.
void append_waits_text(const WaitsReport& report, const Paint& paint,
                       std::vector<std::string>& blocks);

// The whole document, schema whocall.waits/1.
void append_waits_json(const WaitsReport& report, std::string_view core, std::string_view exe,
                       std::vector<std::string>& blocks);

}  // namespace whocall
