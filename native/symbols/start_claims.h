// Who says where functions start, brought together by address.
#pragma once

#include <span>
#include <vector>

#include "symbols/function_starts.h"

namespace whocall {

// Each witness tells in the order of addresses, and most tell of starts that others told of before:
// so what is new is merged, and nothing is sorted twice.
class StartClaims {
 public:
  // `starts` ascend, as many to one address as like. Addresses likewise.
  void join(std::span<const FunctionStart> starts);
  void join(std::span<const Address> addresses, StartWitness witness);

  // Ascending, one for each address.
  [[nodiscard]] std::vector<FunctionStart> take() && { return std::move(claims_); }

 private:
  template <typename StartAt>
  void join_all(std::size_t count, StartAt start_at);
  void merge_fresh();

  std::vector<FunctionStart> claims_;
  std::vector<FunctionStart> fresh_;  // of the witness that is just being heard
};

}  // namespace whocall
