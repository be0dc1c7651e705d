// All strategies, one a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "unwind/strategy.h"

namespace whocall {

// All strategies in the order in which the walker asks them, for one instruction set.
std::vector<std::unique_ptr<Strategy>> make_strategies(const Architecture& arch);
// Their names in that order.
const std::vector<std::string>& strategy_names();

// Who makes each.
std::unique_ptr<Strategy> make_signal_frame_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_go_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_cfi_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_exception_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_call_entry_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_analysis_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_frame_pointer_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_scan_strategy(const Architecture& arch);

}  // namespace whocall
