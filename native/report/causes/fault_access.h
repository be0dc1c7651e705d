// Whether a fault was a read, a write, or a jump: only where that is proven.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/address.h"
#include "report/causes/scene.h"

namespace whocall {

struct FaultAccess {
  enum class Verb : std::uint8_t { reading, writing, changing, executing };
  Verb verb = Verb::reading;
  std::optional<Address> begin{};  // of what was accessed, which the fault may lie within
  std::uint64_t size = 0;          // bytes; 0: not known
};

// "read", "write", "read-write", "execute"
std::string_view to_string(FaultAccess::Verb verb);

// A miss where there is no fault, or where its address and the instruction do not prove it.
std::optional<FaultAccess> fault_access(const Scene& scene);

// "reading 4 bytes at 0x8", "executing 0x8", "writing 8 bytes from 0xffc on, at 0x1000".
std::string access_words(const FaultAccess& access, Address fault);

// What the program did at the fault's address, which there has to be: "it was reading 4 bytes at
// 0x8", or, where no more is known, "it accessed 0x8".
std::string access_sentence(const Scene& scene);

// "was reading 4 bytes at", or "accessed", of an instruction.
std::string access_predicate(const Access& access);

}  // namespace whocall
