#include "arch/x86/startup.h"

#include <cstdint>
#include <initializer_list>

namespace whocall {
namespace {

class Cursor {
 public:
  Cursor(ByteView code, Address address) : code_(code), address_(address) {}

  bool take(std::initializer_list<std::uint8_t> wanted) {
    std::uint64_t at = at_;
    for (const std::uint8_t byte : wanted) {
      if (code_.read<std::uint8_t>(at++) != byte) {
        return false;
      }
    }
    at_ = at;
    return true;
  }
  // The bytes and the signed 32-bit operand behind them.
  std::optional<std::int64_t> take_with_operand(std::initializer_list<std::uint8_t> wanted) {
    const std::uint64_t before = at_;
    if (take(wanted)) {
      if (const auto operand = code_.read<std::uint32_t>(at_)) {
        at_ += 4;
        return static_cast<std::int32_t>(*operand);
      }
    }
    at_ = before;
    return std::nullopt;
  }
  // The same, the operand counted from behind the instruction.
  std::optional<Address> take_relative(std::initializer_list<std::uint8_t> wanted) {
    const auto operand = take_with_operand(wanted);
    return operand ? std::optional(here() + static_cast<Address>(*operand)) : std::nullopt;
  }
  [[nodiscard]] Address here() const { return address_ + at_; }

 private:
  ByteView code_;
  Address address_;
  std::uint64_t at_ = 0;
};

// What sets the other arguments of __libc_start_main: no more than these stand around main's.
bool take_other_argument(Cursor& at) {
  return at.take({0x45, 0x31, 0xc0}) || at.take({0x45, 0x31, 0xc9}) || at.take({0x31, 0xc9}) ||
         at.take_with_operand({0x4c, 0x8d, 0x05}) || at.take_with_operand({0x48, 0x8d, 0x0d}) ||
         at.take_with_operand({0x49, 0xc7, 0xc0}) || at.take_with_operand({0x48, 0xc7, 0xc1}) ||
         at.take_with_operand({0x4c, 0x8b, 0x05}) || at.take_with_operand({0x48, 0x8b, 0x0d}) ||
         at.take({0x8b, 0x37}) || at.take({0x48, 0x63, 0x37}) || at.take({0x48, 0x8d, 0x57, 0x08});
}

// main is the first argument, in rdi, and set once.
bool take_main(Cursor& at, StartupCode& found) {
  if (const auto address = at.take_relative({0x48, 0x8d, 0x3d})) {
    found.main = address;
    return true;
  }
  for (const auto value :
       {at.take_with_operand({0x48, 0xc7, 0xc7}), at.take_with_operand({0xbf})}) {
    if (value) {
      found.main = static_cast<Address>(*value);
      return true;
    }
  }
  found.main_slot = at.take_relative({0x48, 0x8b, 0x3d});
  return found.main_slot.has_value();
}

bool take_x86_64_arguments(Cursor& at, StartupCode& found) {
  constexpr unsigned kMost = 10;
  for (unsigned i = 0; i < kMost; ++i) {
    const bool known = found.main || found.main_slot;
    if (!take_other_argument(at) && (known || !take_main(at, found))) {
      return known;
    }
  }
  return false;
}

// __libc_start_main is called, and does not return.
bool calls_and_halts(Cursor& at, StartupCode& found) {
  found.callee_slot = at.take_relative({0xff, 0x15});
  at.take({0x67});  // the linker's padding of a call that it made direct
  const bool calls = found.callee_slot || at.take_with_operand({0xe8});
  return calls && at.take({0xf4});
}

// musl's _start hands its stack pointer to _start_c, which is C.
std::optional<StartupCode> musl_startup(Cursor& at) {
  if (!at.take({0x48, 0x31, 0xed, 0x48, 0x89, 0xe7}) || !at.take_with_operand({0x48, 0x8d, 0x35}) ||
      !at.take({0x48, 0x83, 0xe4, 0xf0})) {
    return std::nullopt;
  }
  StartupCode found;
  found.next = at.take_relative({0xe8});
  return found.next ? std::optional(found) : std::nullopt;
}

std::optional<StartupCode> musl_start_c(Cursor& at) {
  StartupCode found;
  if (!at.take({0x8b, 0x37}) && !at.take({0x48, 0x63, 0x37})) {
    return std::nullopt;
  }
  if (!take_x86_64_arguments(at, found)) {
    return std::nullopt;
  }
  const bool jumps = at.take_with_operand({0xe9}) || at.take_with_operand({0xff, 0x25});
  return jumps ? std::optional(found) : std::nullopt;
}

}  // namespace

std::optional<StartupCode> x86_64_startup(ByteView code, Address address) {
  Cursor at(code, address);
  at.take({0xf3, 0x0f, 0x1e, 0xfa});  // endbr64
  if (auto found = musl_startup(at)) {
    return found;
  }
  if (auto found = musl_start_c(at)) {
    return found;
  }
  StartupCode found;
  if (!at.take({0x31, 0xed, 0x49, 0x89, 0xd1, 0x5e, 0x48, 0x89, 0xe2, 0x48, 0x83, 0xe4, 0xf0, 0x50,
                0x54}) ||
      !take_x86_64_arguments(at, found)) {
    return std::nullopt;
  }
  return calls_and_halts(at, found) ? std::optional(found) : std::nullopt;
}

std::optional<StartupCode> x32_startup(ByteView code, Address address) {
  Cursor at(code, address);
  at.take({0xf3, 0x0f, 0x1e, 0xfa});  // endbr64
  if (!at.take({0x31, 0xed, 0x41, 0x89, 0xd1, 0x8b, 0x34, 0x24, 0x83, 0xc4, 0x04, 0x89,
                0xe2, 0x83, 0xe4, 0xf0, 0x50, 0x54, 0x45, 0x31, 0xc0, 0x31, 0xc9})) {
    return std::nullopt;
  }
  StartupCode found;
  found.main = at.take_relative({0x8d, 0x3d});
  if (const auto value = at.take_with_operand({0xc7, 0xc7})) {
    found.main = static_cast<std::uint32_t>(*value);
  }
  if (!found.main) {
    found.main_slot = at.take_relative({0x8b, 0x3d});
  }
  const bool known = found.main || found.main_slot;
  return known && calls_and_halts(at, found) ? std::optional(found) : std::nullopt;
}

// main is the last argument that is pushed; ebx holds the GOT's address in code that may move.
std::optional<StartupCode> i386_startup(ByteView code, Address address) {
  Cursor at(code, address);
  at.take({0xf3, 0x0f, 0x1e, 0xfb});  // endbr32
  if (!at.take({0x31, 0xed, 0x5e, 0x89, 0xe1, 0x83, 0xe4, 0xf0, 0x50, 0x54, 0x52})) {
    return std::nullopt;
  }
  constexpr Address kMask = 0xffffffff;
  std::optional<Address> got;
  if (at.take_with_operand({0xe8})) {
    const Address behind = at.here();
    const auto distance = at.take_with_operand({0x81, 0xc3});
    if (!distance) {
      return std::nullopt;
    }
    got = behind + static_cast<Address>(*distance);
  }
  StartupCode found;
  constexpr unsigned kMost = 12;
  for (unsigned i = 0; i < kMost; ++i) {
    if (at.take({0x6a, 0x00}) || at.take({0x51}) || at.take({0x56})) {
      found = {};
    } else if (const auto pushed = at.take_with_operand({0x68})) {
      found = {.main = static_cast<Address>(*pushed) & kMask};
    } else if (const auto value = at.take_with_operand({0xb8})) {
      found = {.main = static_cast<Address>(*value) & kMask};
    } else if (const auto relaxed =
                   at.take_with_operand({0xc7, 0xc0})) {  // was a load from the GOT
      found = {.main = static_cast<Address>(*relaxed) & kMask};
    } else if (const auto near_got = got ? at.take_with_operand({0x8d, 0x83}) : std::nullopt) {
      found = {.main = (*got + static_cast<Address>(*near_got)) & kMask};
    } else if (const auto slot = got ? at.take_with_operand({0xff, 0xb3}) : std::nullopt) {
      found = {.main_slot = (*got + static_cast<Address>(*slot)) & kMask};
    } else if (!at.take({0x50})) {  // pushes what was just computed
      break;
    }
  }
  const auto slot = got ? at.take_with_operand({0xff, 0x93}) : std::nullopt;
  if (slot) {
    found.callee_slot = (*got + static_cast<Address>(*slot)) & kMask;
  }
  const bool calls = slot || at.take_with_operand({0xe8});
  const bool good = calls && at.take({0xf4}) && (found.main || found.main_slot);
  return good ? std::optional(found) : std::nullopt;
}

}  // namespace whocall
