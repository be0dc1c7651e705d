// Ctrl-C in the middle of a long look at a whole file.
#pragma once

#include <cstddef>

namespace whocall {

// Ends the computation by throwing when its user wants that.
using InterruptCheck = void (*)();

// For the whole process, to be set once at its start; without one nothing is interrupted. (One that
// every reader of a file would be given by hand would be a parameter of nearly every function.)
void set_interrupt_check(InterruptCheck check);

// Asks the check. To be called every few milliseconds, with nothing half done.
void check_interrupt();

// The same in a loop: asks once in so many turns.
inline constexpr std::size_t kManyBytes = std::size_t{1} << 18U;
inline constexpr std::size_t kManyEntries = std::size_t{1} << 12U;
inline void check_interrupt_at(std::size_t turn, std::size_t interval) {
  if (turn % interval == interval - 1) {
    check_interrupt();
  }
}

}  // namespace whocall
