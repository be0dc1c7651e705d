// The stack that a thread's handlers run on.
#pragma once

#include <cstddef>

namespace whocall::runtime {

// Gives the calling thread one, unless it has one that is large enough; it goes with the thread. 0,
// or -1 with errno.
int give_handler_stack();

// In a handler: bytes that are left of the stack for handlers that it runs on; where it runs on the
// thread's own, more than anyone needs. What the program gave the thread later may be small, and
// what lies below it is the program's own.
std::size_t room_of_handler();
inline constexpr std::size_t kReportRoom = 5120;    // bytes that a report takes, and somewhat more
inline constexpr std::size_t kReceiverRoom = 2000;  // likewise, to tell a receiver
inline constexpr std::size_t kLineRoom = 800;       // likewise, for a line

}  // namespace whocall::runtime
