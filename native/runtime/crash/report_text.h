// The parts of a report as text.
#pragma once

#include "runtime/crash/crash.h"
#include "runtime/crash/stack_frames.h"

namespace whocall::runtime {

void print_headline(int fd, const Crash& crash, const char* thread_name);
void print_registers(int fd, const ucontext_t& context);
// The frame at a place among the kept ones; bare: what is known without looking anything up.
void print_frame(int fd, const StackFrames& frames, std::size_t place);
void print_bare_frame(int fd, const StackFrames& frames, std::size_t place);
void print_end(int fd, const StackFrames& frames);
void print_other_thread(int fd, pid_t thread, const char* name, bool answered);
// A line for each loaded file with its build id, by the process' mappings.
void print_build_ids(int fd);
void print_mappings(int fd);

}  // namespace whocall::runtime
