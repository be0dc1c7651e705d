// jitdump: the binary log that JIT compilers write of their code (the kernel's
// tools/perf/Documentation/jitdump-specification.txt).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/budget.h"
#include "base/byte_view.h"
#include "symbols/jit/jit_functions.h"

namespace whocall {

struct JitdumpHeader {
  Endian endian = Endian::little;
  std::uint32_t size = 0;     // bytes; the records follow
  std::uint32_t machine = 0;  // EM_*
  std::uint32_t pid = 0;      // in the process's own namespace
};

// A miss when the bytes are no jitdump of version 1.
std::optional<JitdumpHeader> read_jitdump_header(std::span<const std::byte> bytes);

// Whether memory holds `code` at a runtime address, as far as it can be read.
using HoldsCode = std::function<bool(Address address, std::span<const std::byte> code)>;

// Adds the functions of all records in their order: what is loaded or moved to an address last
// stays, up to the first record that is damaged or cut off. Functions whose code `holds` denies are
// left out.
void read_jitdump(std::span<const std::byte> bytes, const HoldsCode& holds, JitFunctions& functions,
                  Budget& budget);

}  // namespace whocall
