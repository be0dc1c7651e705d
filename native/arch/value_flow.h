// What one instruction does with values: which registers it reads, and what it leaves in registers
// and in memory. For what is handed over from function to function; what unwinding follows stands
// in instruction.h, and where control goes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/registers.h"
#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

// base + index * scale + offset, where there are a base and an index.
struct ValueAddress {
  std::optional<Register> base{};
  std::optional<Register> index{};
  std::uint8_t scale = 1;
  std::uint8_t index_size = 8;  // its lowest bytes count, widened
  bool index_signed = false;    // with their sign, else with zeros
  std::int64_t offset = 0;      // bytes; the address itself where there is neither
  bool known = true;            // false: it counts from what is not followed (a segment)
};

// A value that an instruction leaves somewhere.
struct ValueWrite {
  enum class From : std::uint8_t {
    unknown,   // computed in a way that is not followed
    constant,  // `number`
    reg,       // the lowest `size` bytes of `source`
    address,   // `place` itself, or its lowest `size` bytes
    memory,    // `size` bytes at `place`
  };
  From from = From::unknown;
  bool is_signed = false;  // widened with its sign, else with zeros
  std::uint8_t size = 8;   // bytes that are taken; of what is unknown, that are written
  std::int64_t number = 0;
  std::uint64_t kept = 0;  // of a constant: bits of the destination that stay as they were
  Register source = 0;
  ValueAddress place{};

  // Where it goes: to a register or to memory.
  std::optional<Register> destination{};
  ValueAddress stored_at{};
  std::uint8_t stored_size = 8;  // bytes of memory that are written
  // Of a register: how many of its lowest bytes are the value's; 0: all of it is new.
  std::uint8_t only_low = 0;
};

struct ValueFlow {
  std::vector<ValueWrite> writes{};  // in order
  // How many bytes of each register it reads: the value matters for what it does. What saves a
  // register by a push does not count, nor what clears it.
  struct Read {
    Register number = 0;
    std::uint8_t size = 0;  // bytes
  };
  std::vector<Read> reads{};
  // Memory that it reads; `general`: for a general register, or to compute with integers.
  struct Load {
    ValueAddress place{};
    std::uint8_t size = 0;  // bytes
    bool general = true;
  };
  std::vector<Load> loads{};
  // Of the registers, the ones that it computes with in a way that is not followed, and leads to no
  // memory with: an address in one of them may come out changed.
  std::vector<Register> mixed{};
  // Such an address may come out lower, too, as compilers count from the middle of a frame and from
  // its end.
  bool both_ways = false;
  // Of a call through a pointer: that.
  std::optional<ValueWrite> target{};
  // Of a call with other instructions before it, which are one with it: what they leave where it
  // runs. All that they may leave stands in `writes`.
  std::vector<ValueWrite> before_call{};
  bool may_not_run = false;  // of a call: it hangs on a condition
};

// Instructions as steps of values.
class ValueReader {
 public:
  ValueReader() = default;
  ValueReader(const ValueReader&) = delete;
  ValueReader& operator=(const ValueReader&) = delete;
  virtual ~ValueReader() = default;

  // The instruction at the start of `code`, which stands at `address`; a miss when the bytes are
  // none.
  virtual std::optional<ValueFlow> read(ByteView code, Address address) = 0;
  // In which registers calls leave what they return.
  [[nodiscard]] virtual std::span<const Register> results() const = 0;
};

}  // namespace whocall
