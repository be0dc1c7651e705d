#include "symbols/inferred/bounded_reachability.h"

#include "arch/instruction.h"
#include "object/elf_decoder.h"

namespace whocall {

BoundedReachability::BoundedReachability(const ElfFile& file, const Architecture& arch)
    : file_(file), decoder_(decoder_for(file, arch)) {}

BoundedReachability::~BoundedReachability() = default;

bool BoundedReachability::reaches(Address start, const std::unordered_set<Address>& sites,
                                  ReachabilityLimits limits) {
  return follow(start, sites, limits);
}

bool BoundedReachability::follow(Address at, const std::unordered_set<Address>& sites,
                                 ReachabilityLimits left) {
  unsigned calls = 0;
  for (; left.instructions != 0; --left.instructions) {
    if (sites.contains(at)) {
      return true;
    }
    const auto instruction = decoder_->decode(file_.at(at), at);
    if (!instruction) {
      return false;
    }
    const Address behind = at + instruction->size;
    switch (instruction->flow) {
      case Instruction::Flow::next:
        at = behind;
        break;
      case Instruction::Flow::call:
        calls += instruction->target && returns_at_once(*instruction->target) ? 0 : 1;
        at = behind;
        break;
      case Instruction::Flow::jump:
        at = *instruction->target;
        break;
      case Instruction::Flow::branch:
      case Instruction::Flow::branch_if_unequal: {
        if (left.branches == 0 || calls > left.calls || !instruction->target) {
          return false;
        }
        const ReachabilityLimits then{left.branches - 1, left.calls - calls, left.instructions - 1};
        return follow(*instruction->target, sites, then) || follow(behind, sites, then);
      }
      case Instruction::Flow::indirect_jump:
      case Instruction::Flow::stop:
        return false;
    }
  }
  return false;
}

// i386 code asks for its own address so: mov (%esp),%ebx; ret.
bool BoundedReachability::returns_at_once(Address callee) {
  const auto first = decoder_->decode(file_.at(callee), callee);
  if (!first || first->flow != Instruction::Flow::next) {
    return false;
  }
  const Address behind = callee + first->size;
  const auto second = decoder_->decode(file_.at(behind), behind);
  return second && second->returns;
}

}  // namespace whocall
