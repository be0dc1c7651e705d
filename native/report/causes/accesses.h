// What an instruction works on at the moment of a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "arch/operation.h"
#include "base/address.h"
#include "process/process_image.h"
#include "report/causes/operand_use.h"

namespace whocall {

struct Access {
  Address address = 0;     // runtime address
  std::uint64_t size = 0;  // bytes
  Use use = Use::unknown;
  bool is_whole = true;  // else the size is a guess, or one of several turns is made at a time

  [[nodiscard]] bool contains(Address other) const { return other - address < size; }
  // A miss where it may be read or written.
  [[nodiscard]] std::optional<bool> written() const;
};

// All of them, as far as the registers tell where; and what those do of which they do not.
struct Accesses {
  std::vector<Access> known;
  std::vector<Use> elsewhere;
};

// The value of a register by a disassembler's name, or of the part of one; a miss where it is not
// known.
std::optional<std::uint64_t> register_value(const Architecture& arch, const Registers& registers,
                                            std::string_view name);

// What memory it accesses.
Accesses accesses(const ProcessImage& image, const Registers& registers,
                  const Operation& operation);

// Whether an instruction writes its operand of that number, which is in memory; a miss where it may
// do either.
std::optional<bool> writes_operand(const Architecture& arch, const Operation& operation,
                                   std::size_t number);

// The first operand in memory of an instruction of x86's that has a size; a miss where there is
// none, or where the registers do not tell.
std::optional<Access> operand_in_memory(const ProcessImage& image, const Registers& registers,
                                        const Operation& operation);

// The value of the only operand of an instruction; a miss where it has another number of them, or
// where that is not known.
std::optional<std::uint64_t> value_of_operand(const ProcessImage& image, const Registers& registers,
                                              const Operation& operation);

}  // namespace whocall
