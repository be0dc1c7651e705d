// Where the bytes of x86 code tell of starts of functions.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "arch/x86/code.h"
#include "arch/x86/opcode_filter.h"
#include "arch/x86/start_features.h"
#include "base/interrupt.h"

namespace whocall::x86 {
namespace {

// Position-independent code is linked at small addresses, which many numbers are equal to.
constexpr Address kLowestFixed = 0x10000;
// Bytes that every look ahead may read.
constexpr std::size_t kLookAhead = 12;
constexpr std::size_t kBytesForAMark = 32;  // of code, about
constexpr std::size_t kShortest = 5;        // bytes of what is looked at, or more
constexpr std::size_t kJump = 5;            // bytes of jmp rel32
constexpr unsigned kPassedThrough = 2;      // instructions of padding that code does not jump over
constexpr unsigned kLongestPadding = 8;     // instructions of padding that it does
constexpr std::size_t kShortestRow = 8;     // jumps

class BitMap {
 public:
  explicit BitMap(std::size_t size) : words_(size / 64 + 1) {}
  void set(std::uint64_t at) { words_[at / 64] |= std::uint64_t{1} << (at % 64); }
  [[nodiscard]] bool has(std::uint64_t at) const {
    return (words_[at / 64] >> (at % 64) & 1U) != 0;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// Jumps that stand right behind each other; offsets of the first, and behind the last.
struct Row {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class StartScanner {
 public:
  StartScanner(ByteView code, Address address, Dialect dialect, StartMarks& marks)
      : code_(code),
        bytes_(reinterpret_cast<const std::uint8_t*>(code.bytes().data())),
        size_(code.size()),
        address_(address),
        dialect_(dialect),
        marks_(marks),
        jumped_(size_ / kFunctionAlignment),
        passed_(size_ / kFunctionAlignment) {}

  void run() {
    for (auto* marks : {&marks_.call_targets, &marks_.prologues}) {
      marks->reserve(marks->size() + size_ / kBytesForAMark);
    }
    for (std::size_t at = 0; at < size_; at += kLane) {
      check_interrupt_at(at / kLane, kManyBytes / kLane);
      look_through_lane(at);
    }
    std::ranges::for_each(rows_, [&](const Row& row) { end_row(row); });
    guess();
  }

 private:
  void look_through_lane(std::size_t begin) {
    const bool fixed = address_ >= kLowestFixed;
    Lane found;
    if (begin + kLane < size_) {
      found = opcodes_of(bytes_ + begin, address_ + begin, fixed);
    } else {
      std::array<std::uint8_t, kLane + 1> rest{};
      std::memcpy(rest.data(), bytes_ + begin, size_ - begin);
      found = opcodes_of(rest.data(), address_ + begin, fixed);
    }
    for_each_set(found, [&](std::size_t index, std::uint8_t opcode) {
      if (const std::size_t at = begin + index; at + kShortest <= size_) {
        look_at(static_cast<Opcode>(opcode), at);
      }
    });
  }

  void look_at(Opcode opcode, std::size_t at) {
    switch (opcode) {
      case opcode_call:
        call(at);
        break;
      case opcode_jump:
        jump_to(at + kJump + distance(at + 1));
        if (goes_to_function(at)) {
          lengthen_row(at);
        }
        break;
      case opcode_branch:
        if (at + 6 <= size_) {
          jump_to(at + 6 + distance(at + 2));
        }
        break;
      case opcode_short_jump:
        jump_to(at + 2 +
                static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(bytes_[at + 1])}));
        break;
      case opcode_endbr:
        if (is_landing_pad(code_, at, dialect_)) {
          marks_.landing_pads.push_back(address_ + at);
        }
        break;
      case opcode_lea:
        lea(at);
        break;
      case opcode_immediate:
        immediate(at);
        break;
      case opcode_none:
        break;
    }
  }

  // Every byte that can be a `call rel32` is taken for one: of all 32-bit distances so few stay
  // inside a module's code that chance adds next to nothing (one target in 200,000 bytes of text).
  void call(std::size_t at) {
    const std::uint64_t reach = distance(at + 1);
    const std::uint64_t target = wrap(at + 5 + reach);
    // `call 1f; 1: pop %ebx` asks for the pc; nothing starts there.
    if (reach != 0 && target < size_) {
      marks_.call_targets.push_back(address_ + target);
    }
  }

  // Folklore. Situation: a label stands before the padding of what follows. Example: by gcc 14
  // ZSTD_compressBlock_greedy jumps to the nopl before the aligned beginning of a loop. Remedy: who
  // jumps to padding, jumps to what stands behind it. By chance numbers look like such jumps, too:
  // what begins as functions do remains one, and none goes to the middle of an instruction.
  void jump_to(std::uint64_t at) {
    at = wrap(at);
    if (at >= size_) {
      return;
    }
    if ((address_ + at) % kFunctionAlignment == 0) {
      jumped_.set(at / kFunctionAlignment);
    } else if (const std::uint64_t end = behind_padding(code_, address_, at, kPassedThrough);
               end != at && at != 0 && !is_padding_prefix(bytes_[at - 1])) {
      passed_.set(end / kFunctionAlignment);
    }
  }

  // Folklore. Situation: functions that do nothing but go to another one stand in a row, each right
  // behind the jump of the one before, and nobody calls most of them. Example: the trampolines of
  // the sanitizers' interceptors in gcc 14, __interceptor_trampoline_usleep. Remedy: no compiler
  // puts so many jumps to what looks like functions behind each other; the first one may end what
  // is before.
  void lengthen_row(std::uint64_t at) {
    Row& row = rows_[at % kJump];  // bytes of a jump may look like the opcode of another
    if (row.end != at) {
      end_row(row);
      row.begin = at;
    }
    row.end = at + kJump;
  }

  void end_row(const Row& row) {
    if (row.end - row.begin < kShortestRow * kJump) {
      return;
    }
    const bool whole = padding_before(code_, row.begin) != 0 || ends_before(code_, row.begin);
    for (std::uint64_t at = row.begin + (whole ? 0 : kJump); at < row.end; at += kJump) {
      marks_.prologues.push_back(address_ + at);
    }
  }

  [[nodiscard]] bool goes_to_function(std::uint64_t jump) const {
    const std::uint64_t target = wrap(jump + kJump + distance(jump + 1));
    return target < size_ && (address_ + target) % kFunctionAlignment == 0 &&
           (is_landing_pad(code_, target, dialect_) || padding_before(code_, target) != 0 ||
            ends_before(code_, target));
  }

  // `at`: of the opcode, behind a prefix. Addresses of 8 bytes need one, those of 4 do not.
  void lea(std::size_t at) {
    const bool wide = at != 0 && (bytes_[at - 1] == 0x48 || bytes_[at - 1] == 0x4c);
    const bool relative_to_pc = dialect_ == Dialect::x32 || (dialect_ == Dialect::x86_64 && wide);
    if (relative_to_pc && at + 6 <= size_) {
      take(address_ + at + 6 + distance(at + 2));
    }
  }

  // mov $imm32,%reg; push $imm32; movl $imm32,mem with a short address: how code at a fixed
  // address takes the address of a function.
  void immediate(std::size_t at) {
    std::size_t offset = 1;
    if (bytes_[at] == 0xc7) {
      if ((bytes_[at + 1] & 0x38U) != 0) {
        return;
      }
      offset += modrm_size(bytes_[at + 1], bytes_[at + 2]);
    }
    if (at + offset + 4 <= size_) {
      take(code_.read<std::uint32_t>(at + offset).value_or(0));
    }
  }

  void take(Address target) {
    auto& taken = target - address_ < size_ ? marks_.address_taken : marks_.data_taken;
    taken.push_back(target);
  }

  void guess() {
    const std::size_t first =
        (kFunctionAlignment - address_ % kFunctionAlignment) % kFunctionAlignment;
    for (std::size_t at = first; at + kLookAhead <= size_; at += kFunctionAlignment) {
      check_interrupt_at((at - first) / kFunctionAlignment, kManyEntries);
      if (at == 0 || jumped_.has(at / kFunctionAlignment) ||
          (padding_before(code_, at) == 0 && !ends_before(code_, at)) ||
          padding_before(code_, at + 1) != 0 ||
          behind_padding(code_, address_, at, kLongestPadding) != at) {
        continue;
      }
      const std::uint64_t behind_pad = is_landing_pad(code_, at, dialect_) ? at + 4 : at;
      if (looks_like_prologue(code_, behind_pad, dialect_)) {
        marks_.prologues.push_back(address_ + at);
      } else if (const std::size_t padding = whole_padding_before(code_, at);
                 padding != 0 && !passed_.has(at / kFunctionAlignment) &&
                 ends_before(code_, at - padding) && may_begin_function(code_, at, dialect_)) {
        marks_.aligned.push_back(address_ + at);
      }
    }
  }

  // A signed 32-bit number, widened.
  [[nodiscard]] std::uint64_t distance(std::uint64_t at) const {
    std::int32_t value = 0;
    std::memcpy(&value, bytes_ + at, sizeof value);
    return static_cast<std::uint64_t>(std::int64_t{value});
  }
  // Offsets wrap as the processor's addresses do.
  [[nodiscard]] std::uint64_t wrap(std::uint64_t offset) const {
    return dialect_ == Dialect::x86_64 ? offset : ((address_ + offset) & 0xffffffff) - address_;
  }

  ByteView code_;
  const std::uint8_t* bytes_;
  std::size_t size_;
  Address address_;
  Dialect dialect_;
  StartMarks& marks_;
  BitMap jumped_;                // to which aligned addresses direct jumps go
  BitMap passed_;                // to which they go through padding
  std::array<Row, kJump> rows_;  // the latest, by where they begin
};

}  // namespace

void append_start_marks_64(ByteView code, Address address, StartMarks& marks) {
  StartScanner(code, address, Dialect::x86_64, marks).run();
}
void append_start_marks_x32(ByteView code, Address address, StartMarks& marks) {
  StartScanner(code, address, Dialect::x32, marks).run();
}
void append_start_marks_32(ByteView code, Address address, StartMarks& marks) {
  StartScanner(code, address, Dialect::i386, marks).run();
}

}  // namespace whocall::x86
