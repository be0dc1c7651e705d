#include "runtime/whocall.h"

#include <unistd.h>

#include <algorithm>

#include "runtime/debug_files.h"
#include "runtime/description.h"
#include "runtime/machine.h"
#include "runtime/modules.h"
#include "runtime/rule_lookup.h"
#include "runtime/text.h"
#include "runtime/walk.h"

namespace whocall::runtime {
namespace {

std::size_t fill(CarefulWalk& walk, whocall_frame* frames, std::size_t count) {
  std::size_t found = 0;
  do {
    describe(walk.address(), walk.lookup_address(), walk.trust(), walk.thorough(), frames[found++]);
  } while (found < count && walk.next());
  return found;
}

// The callers of the function that calls this, from the `skipped`th on, 0 being its own.
[[gnu::always_inline]] inline std::size_t callers(whocall_frame* frames, std::size_t count,
                                                  unsigned skipped) {
  CarefulWalk walk(here(), false);
  for (unsigned i = 0; i <= skipped; ++i) {
    if (!walk.next()) {
      return 0;
    }
  }
  return count == 0 ? 0 : fill(walk, frames, count);
}

int result_of(std::size_t found, whocall_frame& found_frame, whocall_frame* frame) {
  if (found == 0) {
    return -1;
  }
  if (frame != nullptr) {
    *frame = found_frame;
  }
  return 0;
}

}  // namespace
}  // namespace whocall::runtime

namespace runtime = whocall::runtime;

extern "C" {

std::size_t whocall_backtrace(whocall_frame* frames, std::size_t count) {
  const std::size_t found = runtime::callers(frames, count, 0);
  if (found != 0) {
    frames[0].trust = WHOCALL_CONTEXT;
  }
  return found;
}

std::size_t whocall_backtrace_context(const void* context, whocall_frame* frames,
                                      std::size_t count) {
  runtime::CarefulWalk walk(runtime::point_of(*static_cast<const ucontext_t*>(context)), true);
  return count == 0 ? 0 : runtime::fill(walk, frames, count);
}

int who_am_i(whocall_frame* frame) {
  whocall_frame self;
  const std::size_t found = runtime::callers(&self, 1, 0);
  if (found != 0 && frame == nullptr) {
    runtime::Line line(STDERR_FILENO);
    line.append("I am ").append(self);
  }
  return runtime::result_of(found, self, frame);
}

int who_call_me(whocall_frame* caller) {
  whocall_frame frames[2];
  const std::size_t found = runtime::callers(frames, 2, 0);
  if (caller == nullptr) {
    runtime::Line line(STDERR_FILENO);
    if (found == 2) {
      line.append(frames[1]).append(" called ").append(frames[0]);
      line.trust(std::max(frames[0].trust, frames[1].trust));
    } else if (found == 1) {
      line.append("who called ").append(frames[0]);
      line.append(" is not known: no unwind table covers it, and no frame pointer leads on");
    } else {
      line.append("who asks is not known: was the library built without unwind tables?");
    }
  }
  return runtime::result_of(found == 2 ? 1 : 0, frames[1], caller);
}

int find_function_by_addr(const void* address, whocall_frame* frame) {
  // On ARM a function's address has a bit that says how its code is to be read.
  const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(address) & runtime::kCodeMask;
  runtime::describe(place, place, WHOCALL_CONTEXT, true, *frame);
  return frame->module[0] == '\0' ? -1 : 0;
}

void whocall_print(int fd, const whocall_frame* frames, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    runtime::Line(fd).numbered(i, frames[i]);
  }
}

void whocall_prepare(void) {
  void* addresses[64];
  runtime::list_modules();
  runtime::forget_rules();
  runtime::for_each_listed(
      [](const runtime::Module& module) { static_cast<void>(runtime::known_file(module)); });
  whocall_capture(addresses, sizeof addresses / sizeof addresses[0]);
}

}  // extern "C"
