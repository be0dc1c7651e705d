#include "unwind/code/tail_calls.h"

#include <algorithm>
#include <set>
#include <vector>

#include "process/process_decoder.h"

namespace whocall {
namespace {

// Functions beyond this size are not looked through.
constexpr std::uint64_t kLargestFunction = 1U << 16U;

}  // namespace

TailCalls::TailCalls(const ProcessImage& process, CodeMap& code)
    : process_(process), code_(code), decoder_(decoder_for(process)) {}

bool TailCalls::lead(Address from, Address to) {
  const auto caller = code_.function_at(from);
  const auto callee = code_.function_at(to);
  if (decoder_ == nullptr || !caller || !callee) {
    return false;
  }
  const auto [found, fresh] = answers_.try_emplace({caller->begin, callee->begin}, false);
  if (fresh) {
    found->second = search(*caller, *callee);
  }
  return found->second;
}

bool TailCalls::cannot_lead(Address from, Address to) {
  const auto callee = code_.function_at(to);
  if (decoder_ == nullptr || !callee) {
    return false;
  }
  const auto [found, fresh] = misses_.try_emplace({from, callee->begin}, false);
  if (fresh) {
    found->second = is_known_to_miss(from, *callee);
  }
  return found->second;
}

// A call that never returns is taken for one that does: more is followed, so less is proven.
bool TailCalls::is_known_to_miss(Address from, const AddressRange& to) const {
  constexpr std::size_t kMost = 1024;  // instructions
  using Flow = Instruction::Flow;
  std::vector<Address> pending = {from};
  std::set<Address> seen;
  std::vector<std::byte> room;
  while (!pending.empty()) {
    const Address at = pending.back();
    pending.pop_back();
    if (!seen.insert(at).second) {
      continue;
    }
    const ByteView code(process_.memory->bytes_at(at, kLongestLook, room),
                        process_.arch->abi.endian);
    const auto instruction = decoder_->decode(code, at);
    if (!instruction || seen.size() > kMost || to.contains(at) ||
        (instruction->flow == Flow::indirect_jump && !instruction->returns)) {
      return false;
    }
    const bool jumps = instruction->flow == Flow::jump || instruction->flow == Flow::branch ||
                       instruction->flow == Flow::branch_if_unequal;
    if (jumps && !instruction->target) {
      return false;
    }
    if (jumps) {
      pending.push_back(*instruction->target);
    }
    if (instruction->flow != Flow::jump && instruction->flow != Flow::stop &&
        instruction->flow != Flow::indirect_jump && !instruction->returns) {
      pending.push_back(at + instruction->size);
    }
  }
  return true;
}

bool TailCalls::leads_anywhere(Address from) {
  const auto [found, fresh] = anywhere_.try_emplace(from, false);
  if (fresh) {
    found->second = jumps_away(from, 0);
  }
  return found->second;
}

bool TailCalls::discards_return(Address from) {
  const std::int64_t pushed = process_.arch->frame.pushed_by_call;
  const auto [found, fresh] = discarding_.try_emplace(from, false);
  if (fresh && pushed != 0) {
    found->second = jumps_away(from, pushed);
  }
  return found->second;
}

bool TailCalls::jumps_away(Address from, std::int64_t raised) const {
  constexpr int kLongest = 8;  // instructions
  using Flow = Instruction::Flow;
  std::vector<std::byte> room;
  const ByteView code(process_.memory->bytes_at(from, kLongest * kLongestLook, room),
                      process_.arch->abi.endian);
  std::uint64_t offset = 0;
  for (int i = 0; decoder_ != nullptr && i < kLongest && offset < code.size(); ++i) {
    const auto instruction = decoder_->decode(code.from(offset), from + offset);
    if (!instruction ||
        (instruction->flow != Flow::next && instruction->flow != Flow::indirect_jump)) {
      return false;
    }
    if (instruction->flow == Flow::indirect_jump) {
      return raised == 0;
    }
    for (const Effect& effect : instruction->list()) {
      const bool stores =
          effect.kind == Effect::Kind::store || effect.kind == Effect::Kind::store_other;
      if (stores || effect.destination != process_.arch->registers.sp) {
        continue;
      }
      if (effect.kind != Effect::Kind::set || effect.source != effect.destination ||
          effect.offset != raised || raised == 0) {
        return false;
      }
      raised = 0;
    }
    offset += instruction->size;
  }
  return false;
}

bool TailCalls::reaches_indirect_jump(Address from) {
  const auto [found, fresh] = indirect_.try_emplace(from, false);
  if (fresh) {
    found->second = look_for_indirect_jump(from);
  }
  return found->second;
}

bool TailCalls::look_for_indirect_jump(Address from) const {
  constexpr std::size_t kMost = 256;  // instructions
  using Flow = Instruction::Flow;
  std::vector<Address> pending = {from};
  std::set<Address> seen;
  std::vector<std::byte> room;
  while (!pending.empty() && seen.size() < kMost && decoder_ != nullptr) {
    const Address at = pending.back();
    pending.pop_back();
    if (!seen.insert(at).second) {
      continue;
    }
    const ByteView code(process_.memory->bytes_at(at, kLongestLook, room),
                        process_.arch->abi.endian);
    const auto instruction = decoder_->decode(code, at);
    if (!instruction || instruction->flow == Flow::stop) {
      continue;
    }
    if (instruction->flow == Flow::indirect_jump) {
      return true;
    }
    if (instruction->target && instruction->flow != Flow::call) {
      pending.push_back(*instruction->target);
    }
    if (instruction->flow != Flow::jump) {
      pending.push_back(at + instruction->size);
    }
  }
  return false;
}

// Breadth first, so that near answers come before the limit.
bool TailCalls::search(const AddressRange& from, const AddressRange& to) {
  std::vector<AddressRange> functions = {from};
  std::size_t next = 0;
  for (int jump = 0; jump < kLongestChain; ++jump) {
    const std::size_t level_end = functions.size();
    for (; next < level_end; ++next) {
      for (const Address target : outward_jumps(functions[next])) {
        if (to.contains(target)) {
          return true;
        }
        const auto function = code_.function_at(target);
        if (function && functions.size() < kFunctionLimit &&
            std::ranges::find(functions, *function) == functions.end()) {
          functions.push_back(*function);
        }
      }
    }
  }
  return false;
}

const std::vector<Address>& TailCalls::outward_jumps(const AddressRange& function) {
  using Flow = Instruction::Flow;
  auto [found, fresh] = outward_.try_emplace(function.begin);
  if (!fresh || function.size() > kLargestFunction) {
    return found->second;
  }
  std::vector<std::byte> bytes(function.size());
  bytes.resize(process_.memory->read(function.begin, bytes));
  const ByteView code(bytes, process_.arch->abi.endian);
  std::vector<Address>& targets = found->second;
  for (std::uint64_t offset = 0; offset < code.size();) {
    const auto instruction = decoder_->decode(code.from(offset), function.begin + offset);
    if (!instruction) {
      offset += process_.arch->code.alignment;
      continue;
    }
    const bool jumps = instruction->flow == Flow::jump || instruction->flow == Flow::branch ||
                       instruction->flow == Flow::branch_if_unequal;
    if (jumps && instruction->target && !function.contains(*instruction->target)) {
      targets.push_back(*instruction->target);
    }
    offset += instruction->size;
  }
  std::ranges::sort(targets);
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

}  // namespace whocall
