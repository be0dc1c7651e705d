// A crash as minidumps and microdumps tell it: of Breakpad, Crashpad and others, on Linux and
// Android.
//
// Addresses are runtime addresses; offsets, sizes and places are bytes. Every count and place in
// the file is checked against the file's size, and what many rows may point at draws on a budget.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "base/budget.h"
#include "base/byte_view.h"
#include "process/process_image.h"
#include "process/told_module.h"

namespace whocall {

// Bytes of the process that the dump holds.
struct DumpedMemory {
  Address address = 0;
  std::uint64_t size = 0;
  std::uint64_t place = 0;  // in the dump's bytes
};

struct DumpedThread {
  std::uint32_t lwp = 0;
  std::string name;                  // may be empty
  std::vector<std::byte> registers;  // as in pr_reg; what is not told is zero
};

// What ended the process; what is not told, or not for sure, is a miss.
struct DumpedSignal {
  int number = 0;
  std::optional<std::int32_t> code;     // si_code
  std::optional<Address> address;       // of a fault
  std::optional<std::uint32_t> sender;  // the process that sent it
};

// All that a core can be made of.
struct Minidump {
  const Architecture* arch = nullptr;
  std::string system;                 // "Linux", "Android"; empty: not told
  std::string writer;                 // "Breakpad", "Crashpad"; empty: another
  std::vector<DumpedThread> threads;  // the one that crashed first; never empty
  std::vector<ToldModule> modules;    // the program first
  std::vector<DumpedMemory> memory;   // in the dump's order; may overlap
  std::vector<Mapping> mappings;      // as it tells them
  bool is_mapped = false;             // it tells them, and all of them
  std::optional<DumpedSignal> signal;
  std::vector<std::byte> auxiliary;  // the auxiliary vector; may be empty
  std::string command;               // the command line, its words apart by a blank
  std::uint32_t pid = 0;             // 0: not told
  std::uint64_t time = 0;            // seconds since 1970; 0: not told
  std::vector<std::string> remarks;  // on what is damaged: the first kMostRemarks, no sentences

  // "it has 3 of 5 rows".
  void remark(std::string what);
  static constexpr std::size_t kMostRemarks = 5;
};

// All streams that matter. `name` names the file. Throws Error.
Minidump read_minidump(ByteView file, const std::string& name, Budget& budget);

// The registers of a thread by its CPU context; a miss where that is too short.
std::optional<std::vector<std::byte>> registers_of_context(ByteView context,
                                                           const Architecture& arch);

// What the exception tells of the signal: `flags` are si_code or 0, `address` that of a fault,
// `sender` what stands where a sender may be told, `pid` the process; 0 for not known.
DumpedSignal told_signal(int number, std::uint32_t flags, Address address, std::uint64_t sender,
                         std::uint32_t pid);

// "x86_64, i386": the instruction sets whose dumps can be read, in words.
inline constexpr const char* kReadableDumps = "those of x86-64, i386, ARM and AArch64 can be read";

}  // namespace whocall
