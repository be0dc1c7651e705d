// What the program wants to be done when one of the signals of a crash comes. The kernel has our
// handler; with the flags and the mask of the program's own where it has one, so that this runs as
// if nobody stood before it.
#pragma once

#include <csignal>

namespace whocall::runtime {

using SetAction = int (*)(int, const struct sigaction*, struct sigaction*);
using OurHandler = void (*)(int, siginfo_t*, void*);

// The C library's sigaction(), where another one stands before it.
void set_real_sigaction(SetAction function);

// Whether a handler is called, and neither the default nor nothing happens.
bool is_function(const struct sigaction& action);

// Puts the handler before what is there for each signal of a crash; `first`: it calls that itself
// when it has done its work, and has a mask of its own. 0, or -1 with errno.
int take_signals(OurHandler handler, bool first);

// What the program has for one of them; to be asked in the handler.
struct sigaction wanted_action(int signal);

// sigaction(), for one that was taken: the kernel keeps our handler.
int change_action(int signal, const struct sigaction* wanted, struct sigaction* before);

// To be called in the child of a fork, which has signals and memory of its own.
void belongs_to_this_process();
// Whether sigaction() for the signal is change_action() in this process: not for other signals, nor
// before they were taken, nor in a child that has its parent's memory but signals of its own.
bool is_taken(int signal);
// What the kernel told is there in such a child, with the program's in place of ours.
void hide_ours(int signal, struct sigaction& told);

// Where a handler that we called has restored the default: ours stands before that again.
void take_back(int signal);

// The kernel's own way with the signal.
void restore_default(int signal);

}  // namespace whocall::runtime
