// The fault whose handler ended the program: what the kernel kept of it for the handler.
#pragma once

#include <optional>

#include "report/causes/scene.h"

namespace whocall {

// A thread gave up in a handler of SIGSEGV, say, and the kernel's words on that signal lie on its
// stack, on x86-64, i386 and AArch64.
std::optional<Fact> handled_fault(const Scene& scene);

}  // namespace whocall
