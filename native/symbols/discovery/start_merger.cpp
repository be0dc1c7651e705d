#include "symbols/discovery/start_merger.h"

#include <cstddef>

#include "base/interrupt.h"

namespace whocall {

StartMerger::StartMerger(std::vector<FunctionStart> first) : claims_(std::move(first)) {
  std::size_t kept = 0;
  for (const FunctionStart& start : claims_) {
    if (kept != 0 && claims_[kept - 1].address == start.address) {
      claims_[kept - 1].evidence |= start.evidence;
    } else {
      claims_[kept++] = start;
    }
  }
  claims_.resize(kept);
}

void StartMerger::join(std::span<const Address> addresses, StartEvidence kind) {
  check_interrupt();
  auto known = claims_.begin();
  for (const Address address : addresses) {
    while (known != claims_.end() && known->address < address) {
      ++known;
    }
    if (known != claims_.end() && known->address == address) {
      known->evidence |= kind;
    } else if (fresh_.empty() || fresh_.back() != address) {
      fresh_.push_back(address);
    }
  }
  merge_fresh(kind);
}

// From the back, so that nothing is moved twice.
void StartMerger::merge_fresh(StartEvidence kind) {
  std::size_t from = claims_.size();
  std::size_t to = from + fresh_.size();
  claims_.resize(to);
  while (!fresh_.empty()) {
    if (from != 0 && claims_[from - 1].address > fresh_.back()) {
      claims_[--to] = claims_[--from];
    } else {
      claims_[--to] = {fresh_.back(), kind};
      fresh_.pop_back();
    }
  }
}

}  // namespace whocall
