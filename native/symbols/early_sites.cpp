#include "symbols/early_sites.h"

#include "arch/instruction.h"

namespace whocall {
namespace {

constexpr unsigned kLongestBlock = 256;  // instructions

}  // namespace

EarlySites::EarlySites(const ElfFile& file, const Architecture& arch)
    : file_(file), decoder_(arch.make_decoder()) {}

EarlySites::~EarlySites() = default;

bool EarlySites::reaches(Address start, const std::unordered_set<Address>& sites,
                         EarlyLimits limits) {
  return follow(start, sites, limits);
}

bool EarlySites::follow(Address at, const std::unordered_set<Address>& sites, EarlyLimits left) {
  unsigned calls = 0;
  for (unsigned steps = 0; steps < kLongestBlock; ++steps) {
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
        ++calls;
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
        const EarlyLimits then{left.branches - 1, left.calls - calls};
        return follow(*instruction->target, sites, then) || follow(behind, sites, then);
      }
      case Instruction::Flow::indirect_jump:
      case Instruction::Flow::stop:
        return false;
    }
  }
  return false;
}

}  // namespace whocall
