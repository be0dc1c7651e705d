// What happened to a thread that crashed, in a sentence or two above its backtrace.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/form/json_members.h"
#include "report/thread_trace.h"

namespace whocall {

// Lines with their newlines; none for a thread that did not crash. What does not fit `columns` (0:
// everything does) is broken between words, and arguments of the program are left out first.
// `inferior` stands before the thread's number, as where gdb has several. `last_words` are the
// cause where what is seen here tells of none: what a runtime said before it ended the program.
void append_happened(std::string& text, const ThreadTrace& trace, std::size_t columns,
                     std::string_view inferior, std::string_view last_words);

// The same as a member "happened"; null for a thread that did not crash. The last words are a
// member of it, too, also where its sentence tells another cause.
void add_happened(JsonMembers& members, std::string& text, const ThreadTrace& trace,
                  std::string_view last_words);

}  // namespace whocall
