// What a thread waits for, in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "waits/wait_cycles.h"

namespace whocall {

class WaitPhrases {
 public:
  // `numbers` are what to call the threads, by their indices in the process; `inferior` stands
  // before each, such as "2." where gdb has several. All must outlive it.
  WaitPhrases(const std::vector<Waiting>& waits, std::span<const std::int64_t> numbers,
              std::string_view inferior)
      : waits_(waits), numbers_(numbers), inferior_(inferior) {}

  // "waits for the recursive mutex at 0x55d0, which thread 3 has"
  [[nodiscard]] std::string phrase(const Waiting& waiting) const;
  // The threads of a cycle, from that of the smallest number on.
  [[nodiscard]] std::vector<std::size_t> in_order(const WaitCycle& cycle) const;
  // "Thread 3 waits for the mutex at 0x55d0, which thread 5 has; thread 5 waits for ..., which
  // thread 3 has: a deadlock."
  [[nodiscard]] std::string sentence(const WaitCycle& cycle) const;

 private:
  [[nodiscard]] std::string thread(std::size_t index) const;
  [[nodiscard]] std::string object(const Waiting& waiting) const;
  [[nodiscard]] std::string holder(const Waiting& waiting) const;

  const std::vector<Waiting>& waits_;
  std::span<const std::int64_t> numbers_;
  std::string inferior_;
};

}  // namespace whocall
