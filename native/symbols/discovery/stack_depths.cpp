#include "symbols/discovery/stack_depths.h"

#include <utility>
#include <vector>

#include "arch/instruction.h"
#include "base/interrupt.h"
#include "object/elf_decoder.h"

namespace whocall {
namespace {

using Depth = std::optional<std::int64_t>;

Depth behind(const Instruction& instruction, Depth depth, Register sp) {
  for (const Effect& effect : instruction.list()) {
    if (effect.destination != sp || effect.kind == Effect::Kind::store ||
        effect.kind == Effect::Kind::store_other || effect.kind == Effect::Kind::compare) {
      continue;
    }
    const bool moves = effect.kind == Effect::Kind::set && effect.source == sp;
    depth = moves && depth ? Depth(*depth - effect.offset) : std::nullopt;
  }
  return depth;
}

class Walk {
 public:
  Walk(const AddressRange& range, const std::set<Address>& ends) : range_(range), ends_(ends) {}

  void go(Address to, Depth depth) {
    auto& known = range_.contains(to) ? inside_ : found_.depths;
    const auto [place, fresh] = known.try_emplace(to, depth);
    const bool weaker = !fresh && place->second && place->second != depth;
    if (weaker) {
      place->second.reset();
    }
    if (range_.contains(to) && (fresh || weaker)) {
      work_.push_back(to);
    }
  }

  void step(Address at, const Instruction& instruction, Depth depth) {
    const Address next = at + instruction.size;
    switch (instruction.flow) {
      case Instruction::Flow::call:
        if (ends_.contains(next)) {
          return;
        }
        break;
      case Instruction::Flow::jump:
        go(*instruction.target, depth);
        return;
      case Instruction::Flow::branch:
      case Instruction::Flow::branch_if_unequal:
        if (instruction.target) {
          go(*instruction.target, depth);
        }
        break;
      case Instruction::Flow::indirect_jump:
        found_.complete = false;
        return;
      case Instruction::Flow::stop:
        return;
      case Instruction::Flow::next:
        break;
    }
    if (range_.contains(next)) {
      go(next, depth);
    }
  }

  std::optional<std::pair<Address, Depth>> take() {
    if (work_.empty()) {
      return std::nullopt;
    }
    const Address at = work_.back();
    work_.pop_back();
    return std::pair(at, inside_.at(at));
  }

  void give_up() { found_.complete = false; }

  JumpsOut result() && {
    for (const auto& [at, depth] : inside_) {
      found_.reached.insert(at);
    }
    return std::move(found_);
  }

 private:
  const AddressRange& range_;
  const std::set<Address>& ends_;
  std::map<Address, Depth> inside_;
  std::vector<Address> work_;
  JumpsOut found_;
};

}  // namespace

StackDepths::StackDepths(const ElfFile& file, const Architecture& arch)
    : file_(file), arch_(arch), decoder_(decoder_for(file, arch)) {}

StackDepths::~StackDepths() = default;

JumpsOut StackDepths::follow(Address entry, const AddressRange& range,
                             const std::set<Address>& ends) {
  constexpr unsigned kMostSteps = 1U << 14U;
  Walk walk(range, ends);
  walk.go(entry, 0);
  for (unsigned steps = 0; const auto place = walk.take(); ++steps) {
    check_interrupt_at(asked_++, kManyEntries);
    const auto [at, depth] = *place;
    const auto instruction = steps < kMostSteps ? decoder_->decode(file_.at(at), at) : std::nullopt;
    if (!instruction) {
      walk.give_up();
      if (steps >= kMostSteps) {
        break;
      }
      continue;
    }
    walk.step(at, *instruction, behind(*instruction, depth, arch_.registers.sp));
  }
  return std::move(walk).result();
}

}  // namespace whocall
