#include "unwind/analysis/function_reader.h"

#include <algorithm>
#include <vector>

namespace whocall {
namespace {

constexpr std::size_t kLongestHelper = 512;  // instructions
constexpr std::uint32_t kNone = 1;           // there is no instruction that can be followed

bool goes_on(const Instruction& instruction) {
  using Flow = Instruction::Flow;
  return instruction.flow == Flow::next || instruction.flow == Flow::branch ||
         instruction.flow == Flow::branch_if_unequal;
}

bool leads_astray(const Instruction& instruction) {
  using Flow = Instruction::Flow;
  return instruction.flow == Flow::call || instruction.flow == Flow::indirect_jump;
}

bool writes_register(const Effect& effect) {
  return effect.kind != Effect::Kind::store && effect.kind != Effect::Kind::store_other &&
         effect.kind != Effect::Kind::compare;
}

}  // namespace

const Instruction* FunctionReader::decode(std::uint64_t offset) {
  if (offset >= code_.size()) {
    return nullptr;
  }
  std::uint32_t& number = at_[offset];
  if (number == 0) {
    const auto decoded = decoder_.decode(code_.from(offset), address_ + offset);
    const bool known = decoded && decoded->size != 0 && decoded->is_whole;
    number = kNone;
    if (known) {
      decoded_.push_back(*decoded);
      number += static_cast<std::uint32_t>(decoded_.size());
      const AddressRange read = decoder_.constants(code_.from(offset), address_ + offset);
      if (!read.empty()) {
        constants_.emplace(read.begin - address_, read.end - address_);
      }
    }
  }
  return number == kNone ? nullptr : &decoded_[number - kNone - 1];
}

std::uint64_t FunctionReader::behind_padding(std::uint64_t offset) {
  while (true) {
    if (const auto constant = constants_.find(offset); constant != constants_.end()) {
      offset = constant->second;
      continue;
    }
    const Instruction* instruction = decode(offset);
    if (instruction == nullptr || !instruction->padding) {
      return offset;
    }
    offset += instruction->size;
  }
}

bool FunctionReader::leads_into_constant(std::uint64_t offset) {
  const Instruction* instruction = nullptr;
  while (!constants_.contains(offset) && (instruction = decode(offset)) != nullptr &&
         instruction->padding) {
    offset += instruction->size;
  }
  return constants_.contains(offset);
}

bool FunctionReader::looks_like_function(std::uint64_t offset) {
  const Instruction* instruction = decode(offset);
  if (instruction == nullptr || (address_ + offset) % arch_.code.function_alignment != 0) {
    return false;
  }
  if (instruction->landing_pad) {
    return true;
  }
  const auto effects = instruction->list();
  return !effects.empty() && effects[0].kind == Effect::Kind::set &&
         effects[0].destination == arch_.registers.sp && effects[0].source == arch_.registers.sp &&
         effects[0].offset < 0;
}

bool FunctionReader::drops_return_address(std::uint64_t offset) {
  const Instruction* instruction = decode(offset);
  if (instruction == nullptr || instruction->list().empty()) {
    return false;
  }
  const auto raises = [&](const Effect& effect) {
    return effect.kind == Effect::Kind::set && effect.destination == arch_.registers.sp &&
           effect.source == arch_.registers.sp && effect.offset > 0;
  };
  const Effect& first = instruction->list().front();
  const bool stores = first.kind == Effect::Kind::store || first.kind == Effect::Kind::store_other;
  return (stores && first.destination == arch_.registers.sp && first.offset == 0 &&
          first.scale == 0) ||
         std::ranges::any_of(instruction->list(), raises);
}

std::optional<std::bitset<kRegisterLimit>> FunctionReader::written_by(std::uint64_t offset) {
  std::bitset<kRegisterLimit> written;
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> pending{offset};
  while (!pending.empty()) {
    const std::uint64_t at = pending.back();
    pending.pop_back();
    if (!seen.insert(at).second) {
      continue;
    }
    const Instruction* instruction = decode(at);
    if (instruction == nullptr || leads_astray(*instruction) || seen.size() > kLongestHelper) {
      return std::nullopt;
    }
    for (const Effect& effect : instruction->list()) {
      if (writes_register(effect) && effect.destination < kRegisterLimit) {
        written.set(effect.destination);
      }
    }
    if (instruction->target) {
      pending.push_back(*instruction->target - address_);
    }
    if (goes_on(*instruction)) {
      pending.push_back(at + instruction->size);
    }
  }
  return written;
}

const std::set<std::uint64_t>& FunctionReader::block_starts() {
  if (!block_starts_) {
    block_starts_.emplace();
    for (std::uint64_t offset = 0; offset < code_.size();) {
      const Instruction* instruction = decode(offset);
      if (instruction != nullptr && instruction->target &&
          instruction->flow != Instruction::Flow::call) {
        block_starts_->insert(*instruction->target - address_);
      }
      offset += instruction != nullptr ? instruction->size : arch_.code.alignment;
    }
  }
  return *block_starts_;
}

}  // namespace whocall
