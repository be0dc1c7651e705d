#include "unwind/rows/exidx_program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "rules/arm_index.h"

namespace whocall {
namespace {

constexpr Register kSp = rules::kArmSp;
constexpr Register kLink = rules::kArmLink;
constexpr Register kPc = rules::kArmPc;
constexpr std::int64_t kFarthest = std::int64_t{1} << 31U;  // bytes; all of the address space

// What instructions make of a stack pointer that is a register and an offset.
class FrameAtCalls {
 public:
  // False where the instructions cannot be followed.
  bool follow(rules::ArmInstructions instructions) {
    while (true) {
      const rules::ArmEffect effect = rules::decode_arm(instructions);
      if (effect.kind == Kind::finish) {
        return true;
      }
      // The stack is the caller's once sp was popped: nothing is popped behind that.
      if (popped_[kSp] || !take(effect) || vsp_ > kFarthest || vsp_ < -kFarthest) {
        return false;
      }
    }
  }

  // What was popped into the pc is the return address, or else what is in the link register.
  [[nodiscard]] UnwindRow row(const Architecture& arch) const {
    UnwindRow row;
    row.cfa = CfaRule::at(base_, vsp_);
    row.return_address = arch.registers.return_address;
    for (Register number = 0; number < kLink; ++number) {
      if (popped_[number]) {
        row.rules.push_back({number, RegisterRule::stored_at_cfa(*popped_[number] - vsp_)});
      }
    }
    if (const auto slot = popped_[kPc] ? popped_[kPc] : popped_[kLink]) {
      row.rules.push_back({row.return_address, RegisterRule::stored_at_cfa(*slot - vsp_)});
    }
    return row;
  }

 private:
  using Kind = rules::ArmEffect::Kind;

  bool take(const rules::ArmEffect& effect) {
    switch (effect.kind) {
      case Kind::move:
        vsp_ += effect.amount;
        return true;
      case Kind::pop:
        return pop(effect.registers);
      case Kind::set_sp:
        return take_from(static_cast<Register>(effect.amount));
      case Kind::skip:
        return true;
      default:
        return false;
    }
  }

  // Ascending from the stack pointer on, each once.
  bool pop(std::uint32_t mask) {
    for (Register number = 0; number <= kPc; ++number) {
      if ((mask >> number & 1U) != 0) {
        if (popped_[number]) {
          return false;
        }
        popped_[number] = vsp_;
        vsp_ += 4;
      }
    }
    return true;
  }

  // Places that were told from another register no rule can tell from this one.
  bool take_from(Register number) {
    base_ = number;
    vsp_ = 0;
    return std::ranges::none_of(popped_, [](const auto& place) { return place.has_value(); });
  }

  Register base_ = kSp;
  std::int64_t vsp_ = 0;                                       // from the base, bytes
  std::array<std::optional<std::int64_t>, kPc + 1> popped_{};  // where, from the base
};

// In the order of an entry's own, as words of big endian are.
rules::ArmInstructions listed(std::span<const std::uint8_t> bytes) {
  constexpr bool kLittle = std::endian::native == std::endian::little;
  return {{std::as_bytes(bytes).data(), 0, bytes.size(), kLittle},
          0,
          static_cast<std::uint32_t>(bytes.size())};
}

}  // namespace

std::optional<UnwindRow> compile(const ExidxEntry& entry, const Architecture& arch) {
  FrameAtCalls frame;
  if (entry.instructions.empty() || !frame.follow(listed(entry.instructions))) {
    return std::nullopt;
  }
  UnwindRow row = frame.row(arch);
  row.range = entry.range;
  return row;
}

}  // namespace whocall
