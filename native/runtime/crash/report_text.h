// The parts of a report as text.
#pragma once

#include "runtime/crash/crash.h"
#include "runtime/crash/stack_frames.h"
#include "runtime/text.h"

namespace whocall::runtime {

void print_headline(Sink& to, const Crash& crash, const char* thread_name);
void print_ending(Sink& to, const Ending& ending);
void print_annotations(Sink& to);
void print_registers(Sink& to, const Registers& registers);
// The frame at a place among the kept ones; bare: what is known without looking anything up.
void print_frame(Sink& to, const StackFrames& frames, std::size_t place);
void print_bare_frame(Sink& to, const StackFrames& frames, std::size_t place);
void print_end(Sink& to, const StackFrames& frames);
void print_other_thread(Sink& to, pid_t thread, const char* name, bool answered);
// A line for each loaded file with its build id, by the process' mappings.
void print_build_ids(Sink& to);
void print_mappings(Sink& to);

}  // namespace whocall::runtime
