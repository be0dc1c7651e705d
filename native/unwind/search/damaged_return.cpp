#include "unwind/search/damaged_return.h"

#include <algorithm>
#include <vector>

#include "arch/system_call.h"
#include "unwind/code/call_site.h"
#include "unwind/judge/stack_words.h"
#include "unwind/rows/apply_row.h"

namespace whocall {
namespace {

// What stands at a word that is read as a return address, and no call precedes it.
struct DamagedWord {
  const UnwindRow* row = nullptr;
  AppliedRow applied{};
  bool planted = false;  // it may as well have been put there by hand: see Judgement
  bool is_code = true;
};

// Addresses behind calls that may have led to the callee.
struct Candidates {
  std::vector<Address> matching{};  // they do
  std::vector<Address> anywhere{};  // they may go anywhere

  [[nodiscard]] bool empty() const { return matching.empty() && anywhere.empty(); }
};

class Mender {
 public:
  Mender(const Activation& callee, const WalkContext& context)
      : callee_(callee), context_(context), arch_(*context.process.arch) {}

  [[nodiscard]] std::optional<DamagedReturn> mend() const {
    for (Strategy* strategy : context_.exact) {
      if (const UnwindRow* row = strategy->find(callee_, context_); row != nullptr) {
        const auto word = damaged_word(*row, strategy->trust());
        return word ? mend(*word) : std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<DamagedWord> damaged_word(const UnwindRow& row, Trust trust) const {
    const RegisterRule* rule = row.rule_for(row.return_address);
    if (rule == nullptr || rule->kind != RegisterRule::Kind::at_cfa || row.signal_frame ||
        row.injected || arch_.abi.endian != Endian::little) {
      return std::nullopt;
    }
    DamagedWord word{&row, apply_row(row, callee_, arch_, *context_.process.memory)};
    const Judgement verdict = context_.judge.weigh(callee_, row, word.applied, trust);
    word.planted = verdict.planted;
    if (word.planted && (word.applied.caller.pc & 0xffU) != 0) {
      return std::nullopt;  // a start is no chance hit of anything but the end of a string
    }
    word.is_code = verdict.refusal != Refusal::not_code;
    const bool uncalled =
        verdict.call == CallMatch::no_call && !verdict.trampoline &&
        (verdict.refusal == Refusal::none || verdict.refusal == Refusal::no_call_before);
    const bool damaged = (uncalled && !behind_system_call(word.applied.caller.pc)) || !word.is_code;
    return damaged ? std::optional(word) : std::nullopt;
  }

  // Folklore. Situation: a thread that waits in the kernel is given something else to do first, and
  // the frame of that ends where the thread will go on. Example: KiUserApcDispatcher of Wine, which
  // stores the pc and rbp of NtDelayExecution, behind `syscall`, and points rbp at them. Remedy:
  // what stands behind such an instruction is whole.
  [[nodiscard]] bool behind_system_call(Address pc) const {
    CodeBytes room{};
    InstructionDecoder* decoder = context_.analyser.decoder();
    return decoder != nullptr &&
           ends_with_system_call(*decoder, code_before(context_.process, pc, kLongestLook, room),
                                 pc);
  }

  [[nodiscard]] std::optional<DamagedReturn> mend(const DamagedWord& word) const {
    constexpr Address kOneByte = 0xff;
    constexpr Address kTwoBytes = 0xffff;
    Candidates found;
    if (word.is_code) {
      found = candidates(word, returns_around(word, kOneByte));
    }
    // A file's code may well begin where the two bytes are zero: .init in one of sixteen runs.
    if (found.empty() && (!word.planted || (word.applied.caller.pc & kTwoBytes) == 0)) {
      found = candidates(word, returns_around(word, kTwoBytes));
      found.anywhere.clear();  // among so many there is always one
      std::erase_if(found.matching, [&](Address pc) { return !was_called(word, pc); });
    }
    if (found.empty()) {
      return std::nullopt;
    }
    DamagedReturn damaged{*word.row};
    if (found.matching.size() + found.anywhere.size() == 1) {
      damaged.pc = found.matching.empty() ? found.anywhere.front() : found.matching.front();
    }
    return damaged;
  }

  // All addresses behind a call that differ from the word in the low bytes alone.
  [[nodiscard]] std::vector<Address> returns_around(const DamagedWord& word, Address low) const {
    std::vector<Address> found;
    const Address pc = word.applied.caller.pc;
    const AddressRange block{pc & ~low, (pc | low) + 1};
    if (arch_.code.call_before == nullptr || context_.budget.words < low) {
      return found;
    }
    for (const Module& module : context_.process.modules) {
      const AddressRange part{std::max(block.begin, module.range.begin),
                              std::min(block.end, module.range.end)};
      if (part.begin < part.end) {
        context_.budget.words -= part.size();
        append_returns(part, std::max(module.range.begin, part.begin - kLongestLook), found);
      }
    }
    return found;
  }

  // `first`: where the code begins that may be looked at.
  void append_returns(const AddressRange& part, Address first, std::vector<Address>& found) const {
    std::vector<std::byte> bytes(part.end - first);
    bytes.resize(context_.process.memory->read(first, bytes));
    const ByteView code(bytes, arch_.abi.endian);
    for (Address at = part.begin; at - first <= code.size() && at < part.end;
         at += arch_.code.alignment) {
      const std::size_t before = std::min<std::size_t>(at - first, arch_.code.longest_call);
      const auto window = code.slice(at - first - before, before);
      if (before != 0 && window && context_.process.is_code(at - 1) &&
          arch_.code.call_before(*window, at)) {
        found.push_back(at);
      }
    }
  }

  [[nodiscard]] Activation led_to(const DamagedWord& word, Address pc) const {
    Activation caller = word.applied.caller;
    caller.pc = pc;
    caller.registers.set(arch_.registers.pc, pc);
    return caller;
  }

  // Those from which a call may have led to the callee, and whose own rule leads on.
  [[nodiscard]] Candidates candidates(const DamagedWord& word,
                                      const std::vector<Address>& returns) const {
    Candidates found;
    for (const Address pc : returns) {
      const CallMatch match = context_.judge.match_call(callee_, led_to(word, pc));
      if (match == CallMatch::elsewhere || !ends_instruction(pc)) {
        continue;
      }
      if (goes_to_callee(match) && !leads_astray(word, pc)) {
        found.matching.push_back(pc);
      } else if (match == CallMatch::unknown && call_before(context_.process, pc)->indirect &&
                 was_called(word, pc)) {
        found.anywhere.push_back(pc);
      }
    }
    return found;
  }

  // Whether the instructions of the function come to an end there: bytes in the midst of others may
  // look like a call. The frames of a recursion ask about the same addresses again and again.
  [[nodiscard]] bool ends_instruction(Address pc) const {
    const auto known = context_.notes.instruction_ends.find(pc);
    return known != context_.notes.instruction_ends.end()
               ? known->second
               : context_.notes.instruction_ends.emplace(pc, decodes_to(pc)).first->second;
  }

  [[nodiscard]] bool decodes_to(Address pc) const {
    constexpr std::size_t kWordsOfByte = 8;     // as dear as looking at so many words
    constexpr std::size_t kWordsOfAnswer = 64;  // which is remembered
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 16U;
    InstructionDecoder* decoder = context_.analyser.decoder();
    const auto function = context_.code.function_at(pc - 1);
    const bool is_asked = decoder != nullptr && function && pc - function->begin <= kLongest;
    const std::size_t bytes = is_asked ? pc - function->begin : 0;
    const std::size_t cost = kWordsOfAnswer + bytes * kWordsOfByte;
    context_.budget.words -= std::min(context_.budget.words, cost);
    if (!is_asked) {
      return false;
    }
    std::vector<std::byte> room;
    const ByteView code(context_.process.memory->bytes_at(
                            function->begin, pc - function->begin + kLongestLook, room),
                        arch_.abi.endian);
    Address at = function->begin;
    while (at < pc) {
      const auto instruction = decoder->decode(code.from(at - function->begin), at);
      at += instruction && instruction->size != 0 ? instruction->size : arch_.code.alignment;
    }
    return at == pc;
  }

  // The step that the first rule of the caller leads to; a miss where it has none.
  [[nodiscard]] std::optional<Judgement> step_from(const DamagedWord& word, Address pc) const {
    const Activation caller = led_to(word, pc);
    for (Strategy* strategy : context_.exact) {
      if (const UnwindRow* row = strategy->find(caller, context_); row != nullptr) {
        const auto next = apply_row(*row, caller, arch_, *context_.process.memory);
        return context_.judge.weigh(caller, *row, next, strategy->trust());
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool leads_astray(const DamagedWord& word, Address pc) const {
    const auto step = step_from(word, pc);
    return step && step->refusal != Refusal::none && step->refusal != Refusal::end_of_stack;
  }

  // What was put there by hand ends a stack; what was called does not.
  [[nodiscard]] bool was_called(const DamagedWord& word, Address pc) const {
    const auto step = step_from(word, pc);
    return step && ((step->refusal == Refusal::none && goes_to_callee(step->call)) ||
                    (step->refusal == Refusal::end_of_stack && !word.planted));
  }

  const Activation& callee_;
  const WalkContext& context_;
  const Architecture& arch_;
};

}  // namespace

std::optional<DamagedReturn> find_damaged_return(const Activation& callee,
                                                 const WalkContext& context) {
  return Mender(callee, context).mend();
}

// Tables are believed without a call before the return address, but not about one that was
// overwritten in part.
//
// Folklore. Situation: the frame was found by a search, its rule is exact, and the code that it
// leads to is not at hand. Example: a guess for main, whose return address lost its low byte:
// 0x7ff2e1ee7b00, in a libc that is missing. Remedy: what rests on a search is held to what a
// search is held to: an address as even as a function's is no return address, but where a table
// tells that it lies within one.
bool is_no_return_address(const Activation& callee, const AppliedRow& proposal, CallMatch call,
                          bool searched, const WalkContext& context) {
  if (call == CallMatch::unreadable) {
    const Address pc = proposal.caller.pc;
    const auto function = context.code.function_at(pc - 1);
    const bool within = function && function->contains(pc) && context.code.has_exact_bounds(pc - 1);
    return searched && !within && !looks_returned_to(proposal.cfa, pc, context.process);
  }
  return call == CallMatch::no_call && context.may_search &&
         find_damaged_return(callee, context).has_value();
}

}  // namespace whocall
