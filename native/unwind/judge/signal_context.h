// Whether what a signal frame restores can have been saved by the kernel.
//
// Folklore. Situation: the address of a signal trampoline lies on the stack, and no signal was
// delivered there. Example: what sigaction was given (`sa_restorer`) is left below the frames of a
// GHC program; the "registers" behind it are heap pointers. Remedy: the kernel writes flags and
// segment registers of one form only, and a stack pointer that lies on a stack; what holds anything
// else is no signal frame.
#pragma once

#include <cstdint>

#include "process/process_image.h"
#include "unwind/rows/activation.h"

namespace whocall {

enum class SignalContext : std::uint8_t {
  refuted,    // no kernel saved these registers
  plausible,  // flags and segments cannot be checked, or another hand wrote them (an emulator's)
  checked     // they are as the kernel writes them
};

// The signal trampoline of the instruction set whose code begins at `pc`, or that has to, if what
// returns to `pc` is to return; null where none does.
const SignalTrampoline* trampoline_at(Address pc, const ProcessImage& process);

// Whether `pc`, of which a table says that its caller was interrupted, may stand in a trampoline.
//
// Folklore. Situation: code that calls others in the usual way is marked so, as its author wants
// debuggers to look up its caller's own pc. Example: caml_c_call and caml_call_gc of OCaml 5, which
// gdb shows as <signal handler called>. Remedy: the code at pc, or a little before it, has to be a
// trampoline's, unless it cannot be read.
bool may_be_trampoline(Address pc, const ProcessImage& process);

// `trampoline` stands in the signal trampoline, `interrupted` is what its row leads to.
SignalContext check_signal_context(const Activation& trampoline, const Activation& interrupted,
                                   const ProcessImage& process);

}  // namespace whocall
