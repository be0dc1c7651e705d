// libwhocall for C++17 and later: stack traces that look and behave as C++23's std::stacktrace, of
// frames that libwhocall finds; what is thrown tells where, and what ends the program says so.
//
//   #include <whocall.hpp>
//   std::cerr << whocall::stacktrace::current();
//
// Link with libwhocall (`pkg-config --libs whocall`). Capturing is whocall_capture(): a few
// nanoseconds a frame, no allocation but the vector's. Names are looked up when they are asked for;
// source lines and inlined calls, too, by libdw where the machine has it (libdw.so.1, of elfutils,
// which is opened then). None of this is for signal handlers: those have whocall.h.
#ifndef WHOCALL_HPP
#define WHOCALL_HPP

#include <whocall.h>

#include <whocall/source_lines.hpp>
#include <whocall/stacktrace.hpp>
#include <whocall/text.hpp>
#include <whocall/throws.hpp>

#endif
