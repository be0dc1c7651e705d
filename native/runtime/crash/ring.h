// A ring of records: a file, or a region of memory that survives a restart. A new record takes the
// place of the oldest one. Processes that crash at the same time may share one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/whocall.h"

namespace whocall::runtime {

class Ring {
 public:
  // Maps what the options name; they have a size of slots. 0; or -1 with errno, and what was there
  // stays in use.
  int set(const whocall_crash_options& options);

  [[nodiscard]] bool exists() const { return memory_ != nullptr; }
  [[nodiscard]] std::size_t slot_size() const { return slot_size_; }  // bytes
  // The largest sequence number there; 0 in a ring without records.
  [[nodiscard]] std::uint64_t newest() const;
  // Into a slot without a record, or over the oldest one. One that is larger than a slot is none.
  void write(const void* bytes, std::size_t size);

 private:
  // What was seen of one before its records were looked at.
  struct Slot {
    std::byte* place = nullptr;  // null: there is none
    std::uint32_t word = 0;      // the first
    std::uint64_t sequence = 0;
  };

  [[nodiscard]] std::size_t slots() const { return size_ / slot_size_; }
  [[nodiscard]] std::byte* slot(std::size_t number) const { return memory_ + number * slot_size_; }
  [[nodiscard]] std::uint64_t newest_in(std::size_t number) const;
  [[nodiscard]] Slot oldest(bool of_all) const;
  // Where nobody else writes from now on.
  [[nodiscard]] std::byte* claim() const;

  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;       // bytes
  std::size_t slot_size_ = 1;  // bytes
  bool is_file_ = false;
};

}  // namespace whocall::runtime
