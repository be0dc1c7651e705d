// Who says where functions start, brought together by address.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "symbols/discovery/function_start.h"

namespace whocall {

// Each kind of evidence comes in the order of addresses, and most of it is for starts that are
// known: so what is new is merged, and nothing is sorted twice.
class StartMerger {
 public:
  // The starts and the addresses ascend, as many to one address as like.
  explicit StartMerger(std::vector<FunctionStart> first);
  void join(std::span<const Address> addresses, StartEvidence kind);

  // Ascending, one for each address; those so far.
  [[nodiscard]] std::span<const FunctionStart> all() const { return claims_; }
  [[nodiscard]] std::vector<FunctionStart> take() && { return std::move(claims_); }

 private:
  void merge_fresh(StartEvidence kind);

  std::vector<FunctionStart> claims_;
  std::vector<Address> fresh_;  // that the kind now being joined is the first to name
};

}  // namespace whocall
