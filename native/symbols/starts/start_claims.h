// Who says where functions start, brought together by address.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "symbols/starts/function_start.h"

namespace whocall {

// Each witness tells in the order of addresses, and most tell of starts that others told of before:
// so what is new is merged, and nothing is sorted twice.
class StartClaims {
 public:
  // The starts and the addresses ascend, as many to one address as like.
  explicit StartClaims(std::vector<FunctionStart> first);
  void join(std::span<const Address> addresses, StartWitness witness);

  // Ascending, one for each address.
  [[nodiscard]] std::vector<FunctionStart> take() && { return std::move(claims_); }

 private:
  void merge_fresh(StartWitness witness);

  std::vector<FunctionStart> claims_;
  std::vector<Address> fresh_;  // what the witness that is just being heard tells first
};

}  // namespace whocall
