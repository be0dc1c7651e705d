#include "base/interrupt.h"

#include <atomic>

namespace whocall {
namespace {

std::atomic<InterruptCheck> the_check = nullptr;

}  // namespace

void set_interrupt_check(InterruptCheck check) { the_check = check; }

void check_interrupt() {
  if (const InterruptCheck check = the_check; check != nullptr) {
    check();
  }
}

}  // namespace whocall
