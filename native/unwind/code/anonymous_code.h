// Functions in code that no file holds: what just-in-time compilers and loaders of their own put
// into anonymous memory.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/address.h"
#include "process/process_image.h"

namespace whocall {

// All addresses are runtime addresses.
class AnonymousCode {
 public:
  // The process must outlive the object.
  explicit AnonymousCode(const ProcessImage& process);

  // From the nearest start at or below `address` to the next one, or to where the code ends. A miss
  // where no executable memory is, it cannot be read, or no start is near.
  std::optional<AddressRange> function_at(Address address);
  // Whether a direct call or a constant in the code around it leads to `address`.
  bool is_called(Address address);

 private:
  struct Region {
    AddressRange range;            // within one mapping, as far as it can be read
    std::vector<Address> starts;   // ascending
    std::vector<Address> targets;  // ascending; those among them that the code refers to
  };
  const Region* region_at(Address address);
  [[nodiscard]] Region read_region(const AddressRange& mapping, const AddressRange& part);

  const ProcessImage& process_;
  std::unordered_map<Address, std::unique_ptr<const Region>> regions_;  // by start of their part
  std::uint64_t unread_;  // bytes that may still be read
};

// Whether `pc` is a trampoline of the tool whose `planted` is, should it be one at all.
bool stands_beside(Address pc, Address planted, const ProcessImage& process);

}  // namespace whocall
