// Where the text of a report and its record go.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/crash/ring.h"
#include "runtime/text.h"
#include "runtime/whocall.h"

namespace whocall::runtime {

// The options and what was opened for them. There is one set of them in a process.
class Output {
 public:
  // Copies the options and maps the ring's file. 0, or -1 with errno.
  int set(const whocall_crash_options& options);

  [[nodiscard]] const whocall_crash_options& options() const { return options_; }
  // In the handler: where the text goes. `close_text` when done.
  [[nodiscard]] Sink open_text() const;
  void close_text(const Sink& text) const;

  [[nodiscard]] bool wants_record() const;
  // The room for a record: of a slot where there is a ring.
  [[nodiscard]] std::size_t record_room(std::size_t most) const;
  // A number for the next record.
  [[nodiscard]] std::uint64_t next_sequence();
  void write_record(const void* bytes, std::size_t size);

 private:
  whocall_crash_options options_ = WHOCALL_CRASH_OPTIONS;
  Ring ring_;
  std::uint64_t made_ = 0;  // records of this process
};

}  // namespace whocall::runtime
