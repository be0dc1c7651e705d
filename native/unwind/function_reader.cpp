#include "unwind/function_reader.h"

namespace whocall {
namespace {

constexpr std::size_t kFunctionAlignment = 16;

}  // namespace

const Instruction* FunctionReader::decode(std::uint64_t offset) {
  if (offset >= code_.size()) {
    return nullptr;
  }
  auto [found, fresh] = decoded_.try_emplace(offset);
  if (fresh) {
    found->second = decoder_.decode(code_.from(offset), address_ + offset);
  }
  return found->second && found->second->size != 0 ? &*found->second : nullptr;
}

std::uint64_t FunctionReader::behind_padding(std::uint64_t offset) {
  const Instruction* instruction = decode(offset);
  while (instruction != nullptr && instruction->padding) {
    offset += instruction->size;
    instruction = decode(offset);
  }
  return offset;
}

bool FunctionReader::looks_like_function(std::uint64_t offset) {
  const Instruction* instruction = decode(offset);
  if (instruction == nullptr || (address_ + offset) % kFunctionAlignment != 0) {
    return false;
  }
  if (instruction->landing_pad) {
    return true;
  }
  const auto effects = instruction->list();
  return !effects.empty() && effects[0].kind == Effect::Kind::set &&
         effects[0].destination == arch_.sp && effects[0].source == arch_.sp &&
         effects[0].offset < 0;
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
      offset += instruction != nullptr ? instruction->size : arch_.code_alignment;
    }
  }
  return *block_starts_;
}

}  // namespace whocall
