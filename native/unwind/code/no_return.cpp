#include "unwind/code/no_return.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "process/process_decoder.h"

namespace whocall {
namespace {

using namespace std::string_view_literals;

// Sorted, for binary search.
constexpr std::array kNeverReturn = {
    "_Exit"sv,
    "_Unwind_Resume"sv,
    "_ZSt9terminatev"sv,
    "__assert"sv,
    "__assert_fail"sv,
    "__assert_perror_fail"sv,
    "__chk_fail"sv,
    "__cxa_bad_cast"sv,
    "__cxa_bad_typeid"sv,
    "__cxa_call_unexpected"sv,
    "__cxa_pure_virtual"sv,
    "__cxa_rethrow"sv,
    "__cxa_throw"sv,
    "__cxa_throw_bad_array_new_length"sv,
    "__fortify_fail"sv,
    "__libc_fatal"sv,
    "__libc_start_main"sv,
    "__longjmp_chk"sv,
    "__stack_chk_fail"sv,
    "_exit"sv,
    "_longjmp"sv,
    "abort"sv,
    "err"sv,
    "errx"sv,
    "exit"sv,
    "longjmp"sv,
    "pthread_exit"sv,
    "quick_exit"sv,
    "siglongjmp"sv,
    "thrd_exit"sv,
    "verr"sv,
    "verrx"sv,
};
static_assert(std::ranges::is_sorted(kNeverReturn));

}  // namespace

bool is_known_not_to_return(std::string_view name) {
  // std::__throw_length_error and its kin.
  return std::ranges::binary_search(kNeverReturn, name) ||
         (name.starts_with("_ZSt") && name.find("__throw_") != std::string_view::npos);
}

NoReturn::NoReturn(const ProcessImage& process, CodeMap& code)
    : process_(process), code_(code), decoder_(decoder_for(process)) {}

bool NoReturn::never_returns(Address target) { return never_returns(target, kDeepest); }

bool NoReturn::never_returns(Address target, int depth) {
  if (const auto known = answers_.find(target); known != answers_.end()) {
    return known->second;
  }
  if (decoder_ == nullptr || depth == 0) {
    return false;
  }
  answers_[target] = false;  // while it is being looked at: recursion returns
  std::vector<std::byte> room;
  const auto code = process_.memory->bytes_at(target, kLongestStub, room);
  const auto stub =
      process_.arch->linkage.stub_at(ByteView(code, process_.arch->abi.endian), target);
  bool answer = false;
  if (stub && stub->slot) {
    answer = slot_never_returns(target, *stub->slot, depth);
  } else if (stub && stub->target) {
    answer = never_returns(*stub->target, depth - 1);
  } else if (const auto function = code_.function_at(target);
             function && function->begin == target) {
    answer = !reaches_return(*function, depth);
  }
  answers_[target] = answer;
  return answer;
}

// The import's name decides; a slot that is already bound leads to the function itself.
bool NoReturn::slot_never_returns(Address stub, Address slot, int depth) {
  const std::string_view name = code_.import_at(stub, slot);
  if (!name.empty()) {
    return is_known_not_to_return(name);
  }
  const auto bound = process_.code_pointer_at(slot);
  return bound && never_returns(*bound, depth - 1);
}

// Any return, indirect jump or jump out of the function counts as a way back.
bool NoReturn::reaches_return(const AddressRange& function, int depth) {
  using Flow = Instruction::Flow;
  std::vector<std::byte> bytes(std::min<std::uint64_t>(function.size(), 1U << 16U));
  bytes.resize(process_.memory->read(function.begin, bytes));
  const ByteView code(bytes, process_.arch->abi.endian);
  std::vector<Address> pending = {function.begin};
  std::set<Address> seen;
  while (!pending.empty()) {
    const Address at = pending.back();
    pending.pop_back();
    if (!function.contains(at) || !seen.insert(at).second) {
      continue;
    }
    const auto instruction = decoder_->decode(code.from(at - function.begin), at);
    if (seen.size() > kSteps || !instruction) {
      return true;
    }
    const Address next = at + instruction->size;
    const bool jumps = instruction->flow == Flow::jump || instruction->flow == Flow::branch ||
                       instruction->flow == Flow::branch_if_unequal;
    if (instruction->returns || instruction->flow == Flow::indirect_jump) {
      return true;
    }
    if (jumps && instruction->target) {
      if (!function.contains(*instruction->target) &&
          !never_returns(*instruction->target, depth - 1)) {
        return true;
      }
      pending.push_back(*instruction->target);
    }
    const bool comes_back =
        instruction->flow == Flow::call &&
        !(instruction->target && never_returns(*instruction->target, depth - 1));
    if (instruction->flow == Flow::next || instruction->flow == Flow::branch ||
        instruction->flow == Flow::branch_if_unequal || comes_back) {
      pending.push_back(next);
    }
  }
  return false;
}

}  // namespace whocall
