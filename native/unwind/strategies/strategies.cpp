// The list of strategies, in the order in which the walker asks them: a new one gets a row here.
#include "unwind/strategies/strategies.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace whocall {
namespace {

using Maker = std::unique_ptr<Strategy> (*)(const Architecture&);

// Surest first: what the kernel wrote, what the compiler wrote (that of Go beside its table for
// debuggers a better one, which knows where stacks are switched; ARM's for exceptions behind it),
// what a call must have left behind, what the code does, what a convention leaves behind, what can
// be found by searching.
constexpr std::array<Maker, 8> kMakers = {
    make_signal_frame_strategy,  make_go_strategy,         make_cfi_strategy,
    make_exception_strategy,     make_call_entry_strategy, make_analysis_strategy,
    make_frame_pointer_strategy, make_scan_strategy,
};

}  // namespace

std::vector<std::unique_ptr<Strategy>> make_strategies(const Architecture& arch) {
  std::vector<std::unique_ptr<Strategy>> strategies;
  std::ranges::transform(kMakers, std::back_inserter(strategies),
                         [&](Maker make) { return make(arch); });
  std::erase(strategies, nullptr);  // one that this instruction set has nothing for
  return strategies;
}

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> made;
    for (const auto& strategy : make_strategies(*architectures().front())) {
      made.emplace_back(strategy->name());
    }
    return made;
  }();
  return kNames;
}

}  // namespace whocall
