// Work that goes as deep as a file says, on a stack that is deep enough for it.
#pragma once

#include <cstddef>
#include <functional>

namespace whocall {

// Does the work on a thread of its own with so many bytes of stack, and waits for it. It takes no
// signals and asks for no Ctrl-C, so the work has to be short. False where there is no room for the
// stack: nothing was done.
bool on_own_stack(std::size_t size, const std::function<void()>& work);

}  // namespace whocall
