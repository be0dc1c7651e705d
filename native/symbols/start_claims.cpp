#include "symbols/start_claims.h"

#include <cstddef>

namespace whocall {

template <typename StartAt>
void StartClaims::join_all(std::size_t count, StartAt start_at) {
  fresh_.reserve(claims_.empty() ? count : 0);
  auto known = claims_.begin();
  for (std::size_t i = 0; i < count; ++i) {
    const FunctionStart start = start_at(i);
    while (known != claims_.end() && known->address < start.address) {
      ++known;
    }
    if (known != claims_.end() && known->address == start.address) {
      known->witnesses |= start.witnesses;
    } else if (!fresh_.empty() && fresh_.back().address == start.address) {
      fresh_.back().witnesses |= start.witnesses;
    } else {
      fresh_.push_back(start);
    }
  }
  merge_fresh();
}

void StartClaims::join(std::span<const FunctionStart> starts) {
  join_all(starts.size(), [&](std::size_t i) { return starts[i]; });
}

void StartClaims::join(std::span<const Address> addresses, StartWitness witness) {
  join_all(addresses.size(), [&](std::size_t i) { return FunctionStart{addresses[i], witness}; });
}

// From the back, so that nothing is moved twice.
void StartClaims::merge_fresh() {
  if (claims_.empty()) {
    claims_.swap(fresh_);
    return;
  }
  std::size_t from = claims_.size();
  std::size_t to = from + fresh_.size();
  claims_.resize(to);
  while (!fresh_.empty()) {
    if (from != 0 && claims_[from - 1].address > fresh_.back().address) {
      claims_[--to] = claims_[--from];
    } else {
      claims_[--to] = fresh_.back();
      fresh_.pop_back();
    }
  }
}

}  // namespace whocall
