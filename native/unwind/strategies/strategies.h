// The makers of the strategies, one a file.
#pragma once

#include <memory>

#include "unwind/judge/strategy.h"

namespace whocall {

std::unique_ptr<Strategy> make_signal_frame_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_go_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_cfi_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_exception_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_call_entry_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_analysis_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_frame_pointer_strategy(const Architecture& arch);
std::unique_ptr<Strategy> make_scan_strategy(const Architecture& arch);

}  // namespace whocall
