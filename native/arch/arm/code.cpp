#include "arch/arm/code.h"

#include <algorithm>
#include <utility>

#include "arch/arm/decoder.h"
#include "arch/arm/fields.h"
#include "arch/arm/sweep.h"

namespace whocall::arm {
namespace {

using Flow = Instruction::Flow;

// Functions begin by lowering the stack pointer, as a rule with the link register.
bool is_prologue(const Instruction& instruction) {
  return std::ranges::any_of(instruction.list(), [&](const Effect& effect) {
    return effect.kind == Effect::Kind::set && effect.destination == kSp && effect.source == kSp &&
           effect.offset < 0;
  });
}

// Behind a call the link register leads back to just there, and nobody keeps that: there another
// function begins, and the call never comes back.
bool saves_link(const Instruction& instruction) {
  return std::ranges::any_of(instruction.list(), [](const Effect& effect) {
    return effect.kind == Effect::Kind::store && effect.source == kLink;
  });
}

// Folklore. Situation: no end of the flow stands before a function. Example: the constants of the
// function before it do, and the first instruction of `by_pointer` compares its argument. Remedy:
// an instruction before them loads the last one.
bool is_behind_constant(ByteView code, std::uint64_t at) {
  constexpr std::uint64_t kFarthest = 4096 + 8;  // bytes
  if (at % 4 != 0 || at < 4) {
    return false;
  }
  const std::uint64_t first = at - std::min(at, kFarthest);
  const Modes modes(code.slice(first, at - first).value_or(ByteView()), first);
  for (std::uint64_t from = first; from + 4 < at; from += 2) {
    const bool thumb = modes.is_thumb(from);
    if ((thumb || from % 4 == 0) && constants_read(code.from(from), from, thumb).contains(at - 4)) {
      return true;
    }
  }
  return false;
}

// Folklore. Situation: a function does not begin by lowering the stack pointer. Example: compilers
// load constants first, ldr r3,[pc,#424]; push {r4-r11,lr}; behind the constants of the function
// before, nothing else tells where it begins. Remedy: the code behind an end begins a function
// where no jump leads to it and the link register is pushed a few instructions on.
class LatePrologues {
 public:
  void take(const Swept& swept) {
    const Instruction& instruction = swept.instruction;
    if (instruction.target && is_inner_jump(swept)) {
      jumped_.push_back(*instruction.target);
    }
    if (swept.before == Before::ended) {
      begin_ = instruction.padding ? std::nullopt : std::optional(swept.at);
      left_ = kMost;
    } else if (begin_ && is_prologue(instruction) && saves_link(instruction)) {
      found_.push_back(*begin_);
      begin_.reset();
    }
    if (instruction.flow != Flow::next || left_-- == 0) {
      begin_.reset();
    }
  }

  [[nodiscard]] std::vector<Address> begun() {
    std::ranges::sort(jumped_);
    std::erase_if(found_, [&](Address at) { return std::ranges::binary_search(jumped_, at); });
    return std::move(found_);
  }

 private:
  static constexpr unsigned kMost = 8;   // instructions before the link register is pushed
  static constexpr Address kFar = 4096;  // bytes; jumps over more of them call, as a rule

  static bool is_inner_jump(const Swept& swept) {
    const Address distance = *swept.instruction.target - swept.at;
    return swept.instruction.flow == Flow::branch ||
           (swept.instruction.flow == Flow::jump && distance + kFar < 2 * kFar);
  }

  std::optional<Address> begin_;  // of the code behind an end that is being read
  unsigned left_ = 0;
  std::vector<Address> found_;
  std::vector<Address> jumped_;
};

// Folklore. Situation: a function is only jumped to. Example: glibc's sysconf ends with pop {r4-r7,
// lr}; b __getclktck, which stands behind the constants of __fd_to_filename. Without a start there
// it has that one's name. Remedy: what has taken the link register from the stack gives up its
// frame, and its jump over a function that others call leaves it: where the flow has ended before
// the target, another function begins.
class TailCalls {
 public:
  void take(const Swept& swept) {
    const Instruction& instruction = swept.instruction;
    if (swept.before == Before::ended) {
      behind_ends_.push_back(swept.at);
      restored_ = false;
    }
    if (restored_ && instruction.flow == Flow::jump && instruction.target) {
      jumps_.push_back({swept.at, *instruction.target});
    }
    restored_ = instruction.flow == Flow::next && (restored_ || restores_link(instruction));
  }

  // Of those that jump over one of the `called`.
  [[nodiscard]] std::vector<Address> targets(std::vector<Address> called) const {
    std::ranges::sort(called);
    std::vector<Address> found;
    for (const DirectJump& jump : jumps_) {
      const auto first = std::ranges::upper_bound(called, std::min(jump.source, jump.target));
      const bool over = first != called.end() && *first < std::max(jump.source, jump.target);
      if (over && std::ranges::binary_search(behind_ends_, jump.target)) {
        found.push_back(jump.target);
      }
    }
    return found;
  }

 private:
  static bool restores_link(const Instruction& instruction) {
    return std::ranges::any_of(instruction.list(), [](const Effect& effect) {
      return effect.kind == Effect::Kind::load && effect.destination == kLink &&
             effect.source == kSp;
    });
  }

  bool restored_ = false;             // in the code that is being read
  std::vector<Address> behind_ends_;  // ascending
  std::vector<DirectJump> jumps_;
};

}  // namespace

// bl, blx: in T32 two halves, or one with a register; in A32 one word. The return address comes
// without its mode bit, so that either is looked for; a word of A32 lies at a multiple of 4.
std::optional<CallSite> call_before(ByteView before, Address return_address) {
  const std::uint64_t size = before.size();
  const auto made = [&](std::uint8_t length, bool thumb) -> std::optional<CallSite> {
    if (size < length) {
      return std::nullopt;
    }
    const auto call = decode(before.from(size - length), return_address - length, thumb);
    if (!call || call->size != length || call->flow != Flow::call) {
      return std::nullopt;
    }
    return CallSite{.size = length, .indirect = !call->target, .target = call->target};
  };
  if (auto call = made(4, true)) {
    return call;
  }
  if (auto call = made(2, true)) {
    return call;
  }
  return return_address % 4 == 0 ? made(4, false) : std::nullopt;
}

void append_start_marks(ByteView code, Address address, StartMarks& marks) {
  LatePrologues late;
  TailCalls tails;
  sweep(code, address, [&](const Swept& swept) {
    const Instruction& instruction = swept.instruction;
    late.take(swept);
    tails.take(swept);
    if (instruction.flow == Flow::call && instruction.target &&
        *instruction.target - address < code.size()) {
      marks.call_targets.push_back(*instruction.target);
    }
    if ((swept.before == Before::ended && is_prologue(instruction)) ||
        (swept.before == Before::calls && saves_link(instruction))) {
      marks.prologues.push_back(swept.at);
    }
  });
  const std::vector<Address> left_for = tails.targets(marks.call_targets);
  marks.call_targets.insert(marks.call_targets.end(), left_for.begin(), left_for.end());
  const std::vector<Address> begun = late.begun();
  marks.prologues.insert(marks.prologues.end(), begun.begin(), begun.end());
}

StartFeatures features_at_start(ByteView code, std::uint64_t at) {
  constexpr std::uint64_t kAround = 128;  // bytes
  StartFeatures found;
  if (at % 2 != 0 || at >= code.size()) {
    return found;
  }
  const std::uint64_t first = at < kAround ? 0 : (at - kAround) & ~std::uint64_t{3};
  const std::uint64_t size = std::min(code.size() - first, 2 * kAround);
  const Modes modes(code.slice(first, size).value_or(ByteView()), first);
  const auto instruction = decode(code.from(at), at, modes.is_thumb(at));
  found.prologue = instruction && is_prologue(*instruction);
  found.behind_end =
      flow_ends(code.slice(0, at).value_or(ByteView())) || is_behind_constant(code, at);
  return found;
}

// A return or a jump, with at most a nop behind it. Half of an instruction of A32 looks like a jump
// of T32: so the mode comes first.
bool flow_ends(ByteView all_before) {
  const std::uint64_t size = std::min<std::uint64_t>(all_before.size(), kLongestLook);
  const ByteView before = all_before.from(all_before.size() - size);
  const Modes modes(before.from(size % 4), 0);
  const bool thumb = modes.is_thumb(size < 4 ? 0 : size / 4 * 4 - 4);
  const auto ends = [&](ByteView code, std::uint64_t length) {
    const std::uint64_t first = code.size() - std::min(length, code.size());
    const auto last = decode(code.from(first), first, thumb);
    return last && last->size == length && !goes_on(*last);
  };
  if (!thumb) {
    return ends(before, 4);
  }
  const bool filled = size >= 2 && half_at(before, size - 2) == 0xbf00U;
  const ByteView code = filled ? before.slice(0, size - 2).value_or(ByteView()) : before;
  return ends(code, 4) || ends(code, 2);
}

void append_direct_jumps(ByteView code, Address address, AddressRange wanted,
                         std::vector<DirectJump>& jumps) {
  sweep(code, address, [&](const Swept& swept) {
    const Instruction& instruction = swept.instruction;
    if (instruction.target && instruction.flow != Flow::call &&
        wanted.contains(*instruction.target)) {
      jumps.push_back({swept.at, *instruction.target});
    }
  });
}

}  // namespace whocall::arm
