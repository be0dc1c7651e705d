#include "runtime/crash/handler.h"
#include "runtime/crash/handler_stack.h"
#include "runtime/whocall.h"

namespace whocall::runtime {
namespace {

// exit() runs it.
[[gnu::destructor]] void report_at_exit() { report_handled(); }

}  // namespace
}  // namespace whocall::runtime

extern "C" {

int whocall_install(const whocall_crash_options* options) {
  const whocall_crash_options usual = WHOCALL_CRASH_OPTIONS;
  // What is bound when it is first called is bound now.
  void* addresses[4];
  whocall_capture(addresses, sizeof addresses / sizeof addresses[0]);
  if (whocall::runtime::give_handler_stack() != 0) {
    return -1;
  }
  return whocall::runtime::install_handlers(options == nullptr ? usual : *options);
}

int whocall_install_thread(void) { return whocall::runtime::give_handler_stack(); }

}  // extern "C"
