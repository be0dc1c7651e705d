// What functions and call sites are called in text, as whoever symbolizes tells.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/address.h"

namespace whocall {

struct TraceNames {
  std::unordered_map<Address, std::string> functions;   // by first byte
  std::unordered_map<Address, std::string> call_sites;  // by return address

  // Empty where nothing was told.
  [[nodiscard]] std::string_view function(Address address) const {
    const auto found = functions.find(address);
    return found == functions.end() ? std::string_view() : std::string_view(found->second);
  }
  [[nodiscard]] std::string_view call_site(Address address) const {
    const auto found = call_sites.find(address);
    return found == call_sites.end() ? std::string_view() : std::string_view(found->second);
  }
};

}  // namespace whocall
