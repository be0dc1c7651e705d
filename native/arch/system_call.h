// Calls of the kernel: in code, and by their names.
#pragma once

#include <optional>
#include <string_view>

#include "arch/instruction.h"
#include "arch/system_call_abi.h"

namespace whocall {

// Whether the last instruction of `before`, the code below `address`, calls the kernel: a thread
// that waits there stands at `address`, and no call precedes it.
bool ends_with_system_call(InstructionDecoder& decoder, ByteView before, Address address);

// The number that code puts into the register `number` for the call of the kernel with which
// `before` ends, the code below `address`; a miss where no such instruction is near.
std::optional<std::uint64_t> number_set_before(InstructionDecoder& decoder, ByteView before,
                                               Address address, Register number);

// "futex"; empty where the kernel's headers know none. `number` is without the ABI's mark.
std::string_view system_call_name(const SystemCallAbi& abi, std::uint64_t number);

// The other way round.
std::optional<std::uint64_t> system_call_number(const SystemCallAbi& abi, std::string_view name);

// A letter for each argument, as system_call_shapes.h tells; a miss where it is not known.
std::optional<std::string_view> system_call_shape(std::string_view name);

}  // namespace whocall
