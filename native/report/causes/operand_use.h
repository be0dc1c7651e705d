// What an instruction does with an operand that lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/architecture.h"
#include "arch/operation.h"

namespace whocall {

enum class Use : std::uint8_t {
  unknown,
  nothing,  // names it, and leaves it alone
  reads,
  writes,
  changes,  // reads and writes
};

// A mnemonic without what stands before it: "lock add", "rep movsb".
std::string_view bare_mnemonic(const Operation& operation);

// Of the operand of that number. Unknown where the mnemonic does not tell it for sure.
Use operand_use(const Architecture& arch, const Operation& operation, std::size_t number);

// How many bytes of memory AArch64's loads and stores access, which its disassembler does not tell;
// 0 where the mnemonic and the registers do not either.
std::uint64_t aarch64_access_size(const Operation& operation);

}  // namespace whocall
