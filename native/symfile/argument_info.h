// Writes what functions were handed as debug info, so that a debugger's own `bt`, `info args` and
// `print` show it.
//
// A process that does not run any more has few calls under way, and each has a stack pointer of its
// own. So the location of a parameter is a list of these calls: an expression asks for the frame's
// stack pointer, and gives the value that was handed over to the call which has it; a frame of any
// other is told that the value is not known ("optimized out"). Two frames of one stack pointer with
// different values are both told that: a core may hold a thread twice, or anything. This needs no
// rule for where values live, and is never wrong for another thread. Written after DWARF 4, 7.5.4
// (entries), 2.5.1.5 (composition of values) and 7.7.1 (operations).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"

namespace whocall {

struct HandedValue {
  Address sp = 0;           // of the frame that was handed it
  std::uint64_t value = 0;  // as wide as the parameter
};

struct WrittenParameter {
  enum class Kind : std::uint8_t { signed_number, unsigned_number, pointer, text };
  Kind kind = Kind::unsigned_number;
  std::uint8_t size = 0;              // bytes: 4, or 8 where pointers have as many
  std::vector<HandedValue> values{};  // kMostCallsTold of them are written
};

struct WrittenFunction {
  AddressRange range;          // runtime addresses
  std::string name;            // as debuggers print it
  std::string linkage_name{};  // of C++'s functions, mangled: debuggers make their names of it
  std::string file{};          // whose function it is: debuggers list functions by files
  std::vector<WrittenParameter> parameters{};
  bool more = false;  // it takes a variable number
};

// How many calls of a function one parameter tells of: a branch reaches 32 KiB.
inline constexpr std::size_t kMostCallsTold = 512;

struct ArgumentInfo {
  std::vector<std::byte> info;           // .debug_info
  std::vector<std::byte> abbreviations;  // .debug_abbrev
};

// Parameters are called a1, a2 and so on.
ArgumentInfo write_argument_info(const std::vector<WrittenFunction>& functions,
                                 const Architecture& arch);

}  // namespace whocall
