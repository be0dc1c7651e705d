#include "unwind/audit/row_equivalence.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "memory/memory.h"
#include "unwind/rows/apply_row.h"

namespace whocall {
namespace {

using Kind = AbstractValue::Kind;

constexpr Address kCfa = 0x40000000;      // of the made-up frame; fits 32 bits
constexpr Address kAligned = 0x20000000;  // the base behind a realignment

// A value that nothing else has: the one that `number` had on entry.
std::uint64_t token(Register number) { return 0x11000000U + number * 0x10000U; }

std::optional<std::uint64_t> concrete(const AbstractValue& value) {
  switch (value.kind) {
    case Kind::cfa:
      return kCfa + static_cast<Address>(std::int64_t{value.offset});
    case Kind::aligned:
      return kAligned + static_cast<Address>(std::int64_t{value.offset});
    case Kind::entry:
      return token(value.source);
    case Kind::constant:
      return static_cast<std::uint64_t>(std::int64_t{value.offset});
    case Kind::unknown:
    case Kind::indexed:
      break;
  }
  return std::nullopt;
}

// What an unknown register holds that only counts how far away a word lies.
std::uint64_t index_in(Register number) { return 0x100U + number; }

// Where a word lies.
std::optional<std::uint64_t> concrete_place(const AbstractValue& where) {
  if (where.kind != Kind::indexed) {
    return concrete(where);
  }
  return kAligned + static_cast<Address>(std::int64_t{where.offset}) +
         where.scale * index_in(where.source);
}

// The stack words of a state, each in a run of its own.
class SlotMemory final : public Memory {
 public:
  SlotMemory(const AbstractState& state, const Architecture& arch) : size_(arch.registers.size) {
    for (const AbstractState::Slot& slot : state.slots()) {
      const auto address = concrete_place(slot.where);
      auto value = concrete(slot.what);
      if (address && value) {
        // Little-endian hosts and targets only need the low bytes first; big ones the high.
        if (arch.abi.endian == Endian::big) {
          value = swap_bytes(*value) >> (64U - 8U * size_);
        }
        words_.push_back({*address, *value});
      }
    }
  }

  [[nodiscard]] std::span<const std::byte> run_at(Address address) const override {
    const auto found = std::ranges::find(words_, address, &Word::address);
    return found == words_.end() ? std::span<const std::byte>()
                                 : std::as_bytes(std::span(&found->value, 1)).first(size_);
  }

 private:
  struct Word {
    Address address;
    std::uint64_t value;
  };
  unsigned size_;
  std::vector<Word> words_;
};

// Tables leave a register's place in force after it was popped. That is true as long as nobody
// writes below the stack pointer; that the register holds its value again is true for good.
bool registers_agree(const AbstractState& state, const UnwindRow& table, const Activation& caller,
                     const Architecture& arch) {
  return std::ranges::all_of(arch.registers.callee_saved, [&](Register number) {
    if (state.get(number) == AbstractValue::on_entry(number)) {
      return true;
    }
    const RegisterRule* rule = table.rule_for(number);
    // A register that the table gives up, or of which it says nothing, makes no claim.
    const bool claims = rule != nullptr && rule->kind != RegisterRule::Kind::undefined &&
                        rule->kind != RegisterRule::Kind::same_value;
    return !claims || caller.registers.get(number) == token(number);
  });
}

}  // namespace

AuditOutcome compare_with_table(const AbstractState& state, const UnwindRow& table, Address pc,
                                const Architecture& arch, AbstractState::Place place) {
  const RegisterRule* return_rule = table.rule_for(table.return_address);
  if (return_rule != nullptr && return_rule->kind == RegisterRule::Kind::undefined) {
    return AuditOutcome::agrees;  // the table ends the stack here: there is nothing to agree on
  }
  std::deque<std::vector<std::byte>> arena;
  const auto ours = state.row(arena, place);
  if (!ours) {
    return AuditOutcome::cfa_unknown;
  }
  if (place.guessed && ours->cfa.kind == CfaRule::Kind::register_offset &&
      ours->cfa.kind == table.cfa.kind && ours->cfa.base != table.cfa.base) {
    return AuditOutcome::cfa_differs;
  }
  Activation callee;
  const FollowedRegisters& followed = arch.registers.followed;
  for (Register i = 0; i < followed.count(); ++i) {
    const Register number = followed.number(i);
    if (const auto value = concrete(state.get(number))) {
      callee.registers.set(number, *value);
    }
  }
  for (const AbstractState::Slot& slot : state.slots()) {
    if (slot.where.kind == Kind::indexed) {
      callee.registers.set(slot.where.source, index_in(slot.where.source));
    }
  }
  callee.registers.set(arch.registers.pc, pc);
  const SlotMemory memory(state, arch);
  const auto applied = apply_row(table, callee, arch, memory);
  if (applied.failure == ApplyFailure::no_cfa || applied.cfa != kCfa) {
    return AuditOutcome::cfa_differs;
  }
  if (applied.failure != ApplyFailure::none ||
      applied.caller.pc != token(arch.registers.return_address)) {
    return AuditOutcome::return_address_differs;
  }
  return registers_agree(state, table, applied.caller, arch) ? AuditOutcome::agrees
                                                             : AuditOutcome::registers_differ;
}

}  // namespace whocall
