// The instructions around a place in a process's code, as assemblers write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "process/process_image.h"

namespace whocall {

struct ListedInstruction {
  Address address = 0;  // runtime address
  std::string bytes;    // as the code holds them; never empty
  std::string text;     // "mov rax, qword ptr [rsp + 8]"; empty for bytes that are no instruction
  std::optional<Address> target;  // of a direct call or jump, runtime address
};

struct ListingRequest {
  Address at = 0;  // an instruction begins here, runtime address
  // Where decoding begins: the function's start. Without one it is the call that ends at `at`, or
  // `at` itself, as instructions of several lengths cannot be read backwards.
  std::optional<Address> start;
  std::size_t before = 12;  // at most so many instructions in front of that at `at`
  std::size_t after = 6;    // and so many from it on
};

// In order. What cannot be read ends the list; where the instruction set is not decoded it is
// empty. A start that lies more than kFarthestStart in front of the place counts as none.
inline constexpr std::uint64_t kFarthestStart = std::uint64_t{1} << 20U;  // bytes
std::vector<ListedInstruction> list_instructions(const ProcessImage& process,
                                                 const ListingRequest& request);

}  // namespace whocall
