#include "unwind/code/callee_pops.h"

#include <algorithm>
#include <set>
#include <vector>

#include "process/process_decoder.h"

namespace whocall {

using Flow = Instruction::Flow;

CalleePops::CalleePops(const ProcessImage& process, CodeMap& code, NoReturn& no_return)
    : process_(process), code_(code), no_return_(no_return), decoder_(decoder_for(process)) {}

std::optional<std::int64_t> CalleePops::popped_by(Address target) {
  // Where registers hold arguments, callers drop the rest.
  if (decoder_ == nullptr || !process_.arch->registers.arguments.empty()) {
    return 0;
  }
  const auto [known, fresh] = answers_.try_emplace(target);
  if (fresh) {
    Answer answer;
    follow(target, kDeepest, answer);
    answers_[target] = answer.agree ? answer.bytes : std::nullopt;
  }
  return answers_[target];
}

void CalleePops::follow(Address target, int depth, Answer& answer) {
  const Architecture& arch = *process_.arch;
  if (depth == 0) {
    return;
  }
  std::vector<std::byte> room;
  const auto code = process_.memory->bytes_at(target, kLongestStub, room);
  const auto stub = arch.linkage.stub_at(ByteView(code, arch.abi.endian), target);
  if (stub && stub->target) {
    follow(*stub->target, depth - 1, answer);
  } else if (stub && stub->slot) {
    const auto bound = process_.code_pointer_at(*stub->slot);
    if (bound && code_.import_at(target, *stub->slot).empty()) {
      follow(*bound, depth - 1, answer);
    }
  } else if (const auto function = code_.function_at(target); function && !stub) {
    follow_function(*function, target, depth, answer);
  }
}

// Jumps out of the function are tail calls, which pop for it, or go to its cold part.
void CalleePops::follow_function(const AddressRange& function, Address target, int depth,
                                 Answer& answer) {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(function.size(), 1U << 16U));
  bytes.resize(process_.memory->read(function.begin, bytes));
  const ByteView code(bytes, process_.arch->abi.endian);
  std::vector<Address> pending = {target};
  std::set<Address> seen;
  while (!pending.empty() && seen.size() < kSteps && answer.agree) {
    const Address at = pending.back();
    pending.pop_back();
    if (!function.contains(at)) {
      follow(at, depth - 1, answer);
      continue;
    }
    if (!seen.insert(at).second) {
      continue;
    }
    const auto instruction = decoder_->decode(code.from(at - function.begin), at);
    if (!instruction) {
      continue;
    }
    if (instruction->returns) {
      answer.add(instruction->popped);
    }
    const bool calls = instruction->flow == Flow::call;
    if (instruction->target && !calls) {
      pending.push_back(*instruction->target);
    }
    const bool comes_back =
        calls && !(instruction->target && no_return_.never_returns(*instruction->target));
    const bool goes_on = instruction->flow == Flow::next || instruction->flow == Flow::branch ||
                         instruction->flow == Flow::branch_if_unequal || comes_back;
    if (goes_on && function.contains(at + instruction->size)) {
      pending.push_back(at + instruction->size);
    }
  }
}

}  // namespace whocall
