// The signals that mean a crash, in words.
#pragma once

#include <csignal>

#include <array>

namespace whocall::runtime {

inline constexpr std::array<int, 6> kCrashSignals{SIGSEGV, SIGBUS,  SIGILL,
                                                  SIGFPE,  SIGABRT, SIGTRAP};

// "SIGSEGV"; "a signal" for one that is none of them.
const char* signal_name(int signal);
// "address not mapped"; null where there are no words for the code.
const char* code_words(int signal, int code);
// Whether somebody sent it, with kill() or its like: then siginfo has no address.
bool was_sent(int code);
// Whether it has a sender then: timers have none.
bool tells_sender(int code);

}  // namespace whocall::runtime
