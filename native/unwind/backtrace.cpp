#include "unwind/backtrace.h"

namespace whocall {

std::string_view to_string(Trust trust) {
  switch (trust) {
    case Trust::context:
      return "context";
    case Trust::cfi:
      return "cfi";
    case Trust::analysis:
      return "analysis";
    case Trust::frame_pointer:
      return "frame-pointer";
    case Trust::scan:
      break;
  }
  return "scan";
}

std::string_view to_string(Evidence evidence) {
  switch (evidence) {
    case Evidence::call_before:
      return "call-before";
    case Evidence::call_target:
      return "call-target";
    case Evidence::cfa_up:
      return "cfa-up";
    case Evidence::frame_pointer:
      return "frame-pointer";
    case Evidence::caller_goes_on:
      return "caller-goes-on";
    case Evidence::signal:
      return "signal";
    case Evidence::return_replaced:
      return "return-replaced";
    case Evidence::call_elsewhere:
      return "call-elsewhere";
    case Evidence::damaged_return:
      break;
  }
  return "damaged-return";
}

std::vector<Evidence> EvidenceSet::list() const {
  std::vector<Evidence> found;
  for (unsigned i = 0; i <= static_cast<unsigned>(Evidence::damaged_return); ++i) {
    if (has(static_cast<Evidence>(i))) {
      found.push_back(static_cast<Evidence>(i));
    }
  }
  return found;
}

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::end_of_stack:
      return "end-of-stack";
    case StopReason::no_caller:
      return "no-caller";
    case StopReason::unreadable:
      return "unreadable";
    case StopReason::frame_limit:
      return "frame-limit";
    case StopReason::main:
      return "main";
    case StopReason::count:
      break;
  }
  return "count";
}

}  // namespace whocall
