// What the bytes of x86 code tell about starts of functions.
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "arch/x86_code.h"
#include "arch/x86_opcode_filter.h"
#include "base/interrupt.h"

namespace whocall::x86 {
namespace {

// Position-independent code is linked at small addresses, which many numbers are equal to.
constexpr Address kLowestFixed = 0x10000;
// Bytes that every look ahead may read.
constexpr std::size_t kLookAhead = 12;
constexpr std::size_t kBytesForAMark = 32;  // of code, about
constexpr std::size_t kShortest = 5;        // bytes of what is looked at, or more

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

bool is_landing_pad(ByteView code, std::uint64_t at, Dialect dialect) {
  return code.read<std::uint32_t>(at) == (dialect == Dialect::i386 ? kEndbr32 : kEndbr64);
}

// The nops that assemblers and linkers fill gaps with, without prefixes, and lea 0(%esi),%esi.
constexpr std::array<std::string_view, 9> kPadding = {std::string_view("\x0f\x1f\x84\0\0\0\0\0", 8),
                                                      std::string_view("\x0f\x1f\x80\0\0\0\0", 7),
                                                      std::string_view("\x8d\xb4\x26\0\0\0\0", 7),
                                                      std::string_view("\x8d\xb6\0\0\0\0", 6),
                                                      std::string_view("\x0f\x1f\x44\0\0", 5),
                                                      std::string_view("\x8d\x74\x26\0", 4),
                                                      std::string_view("\x0f\x1f\x40\0", 4),
                                                      std::string_view("\x0f\x1f\0", 3),
                                                      std::string_view("\x8d\x76\0", 3)};

// The size of the padding instruction that ends at `at`; 0 when none does.
std::size_t padding_before(ByteView code, std::uint64_t at) {
  const auto* const bytes = reinterpret_cast<const char*>(code.bytes().data());
  const auto byte = [&](std::uint64_t offset) { return static_cast<std::uint8_t>(bytes[offset]); };
  if (at == 0) {
    return 0;
  }
  std::size_t size = byte(at - 1) == 0x90 || byte(at - 1) == 0xcc ? 1 : 0;
  if (byte(at - 1) == 0) {
    for (const std::string_view nop : kPadding) {
      if (at >= nop.size() && bytes[at - nop.size()] == nop.front() &&
          std::string_view(bytes + at - nop.size(), nop.size()) == nop) {
        size = nop.size();
        break;
      }
    }
  }
  const auto is_prefix = [&](std::uint64_t offset) {
    return byte(offset) == 0x66 || byte(offset) == 0x2e;
  };
  while (size != 0 && size < 15 && at > size && byte(at - 1) != 0xcc && is_prefix(at - size - 1)) {
    ++size;
  }
  return size;
}

// The size of all padding that ends at `at`.
std::size_t whole_padding_before(ByteView code, std::uint64_t at) {
  constexpr std::size_t kMost = 256;
  std::size_t whole = 0;
  while (whole < kMost) {
    const std::size_t size = padding_before(code, at - whole);
    if (size == 0) {
      break;
    }
    whole += size;
  }
  return whole;
}

// Whether an instruction that never goes on behind itself ends at `at`: ret, jmp, hlt, ud2.
//
// Folklore. Situation: the last bytes of other instructions are the same as those of ret, jmp or
// hlt. Example: mov %rsi,%r12 (49 89 f4), mov %rax,%rbx (48 89 c3) and mov %rbp,%rbx (48 89 eb)
// before pushes that happen to be aligned, in the middle of a prologue that was compiled for size.
// Remedy: behind the opcode of a move between registers stand its operands, and programs halt only
// behind the call of what never returns.
bool ends_before(ByteView code, std::uint64_t at) {
  const auto byte = [&](std::uint64_t back) -> unsigned {
    return back <= at ? std::to_integer<unsigned>(code.bytes()[at - back]) : 0;
  };
  const auto moves = [&](std::uint64_t back) { return byte(back) == 0x89 || byte(back) == 0x8b; };
  const bool returns =
      (byte(1) == 0xc3 && !moves(2)) || (byte(3) == 0xc2 && byte(1) == 0 && byte(2) % 4 == 0);
  const bool calls = byte(6) == 0xe8 || (byte(7) == 0xff && byte(6) == 0x15) ||
                     (byte(3) == 0xff && (byte(2) & 0xf8U) == 0xd0);
  const bool stops = (byte(1) == 0xf4 && calls) || (byte(2) == 0x0f && byte(1) == 0x0b);
  const bool jumps_near = byte(2) == 0xeb && !moves(3);
  const bool jumps_far =
      byte(5) == 0xe9 && (byte(1) == 0 || byte(1) == 0xff || byte(1) <= 0x08 || byte(1) >= 0xf8);
  const bool jumps_through = (byte(2) == 0xff && (byte(1) & 0xf8U) == 0xe0) ||
                             (byte(6) == 0xff && byte(5) == 0x25) ||
                             (byte(7) == 0xff && byte(6) == 0x24);
  return at == 0 || returns || stops || jumps_far || jumps_near || jumps_through;
}

// push of a register that calls preserve; sub $imm,%rsp. Before calls, i386 code lowers the stack
// pointer anywhere.
bool looks_like_prologue(ByteView code, std::uint64_t at, Dialect dialect) {
  const auto byte = [&](std::uint64_t ahead) -> unsigned {
    return code.read<std::uint8_t>(at + ahead).value_or(0);
  };
  if (byte(0) == 0x53 || byte(0) == 0x55) {
    return true;
  }
  if (dialect == Dialect::i386) {
    // lea 4(%esp),%ecx: main, before it aligns the stack
    const bool realigns = byte(0) == 0x8d && byte(1) == 0x4c && byte(2) == 0x24 && byte(3) == 4;
    return byte(0) == 0x56 || byte(0) == 0x57 || realigns;
  }
  const auto lowers_sp = [&](std::uint64_t opcode) {
    return (byte(opcode) == 0x83 || byte(opcode) == 0x81) && byte(opcode + 1) == 0xec;
  };
  return (byte(0) == 0x41 && byte(1) >= 0x54 && byte(1) <= 0x57) ||
         (byte(0) == 0x48 && lowers_sp(1)) || (dialect == Dialect::x32 && lowers_sp(0));
}

// Folklore. Situation: the C library's string functions for i386 are aligned blocks that tables
// lead to. Example: movdqu (%esi),%xmm0. Remedy: arguments come on the stack, so no function begins
// by reading through another register: it loads an argument, a constant, or asks for the pc.
bool may_begin_function(ByteView code, std::uint64_t at, Dialect dialect) {
  constexpr std::string_view kOthers = "\xe8\xe9\xb8\x31\x33\xc3\x65\xa1";
  const auto byte = [&](std::uint64_t ahead) {
    return code.read<std::uint8_t>(at + ahead).value_or(0);
  };
  constexpr std::uint8_t kBaseIsSp = 0x24;  // SIB
  return dialect != Dialect::i386 || byte(2) == kBaseIsSp || byte(3) == kBaseIsSp ||
         kOthers.find(static_cast<char>(byte(0))) != std::string_view::npos;
}

// Folklore. Situation: code for processors that check indirect jumps has landing pads inside
// functions too: where exceptions are caught. Example: endbr64; mov %rax,%rbx, as the exception
// arrives in %rax. Remedy: no function begins by reading the register of return values.
bool catches_exceptions(ByteView code, std::uint64_t at, Dialect dialect) {
  const auto byte = [&](std::uint64_t ahead) -> unsigned {
    return code.read<std::uint8_t>(at + ahead).value_or(0);
  };
  const bool wide = dialect != Dialect::i386 && (byte(0) == 0x48 || byte(0) == 0x49);
  const bool to_later_register = dialect == Dialect::x32 && byte(0) == 0x41;
  const std::uint64_t opcode = wide || to_later_register ? 1 : 0;
  return byte(opcode) == 0x89 && (byte(opcode + 1) & 0x38U) == 0;
}

StartFeatures features_at_start(ByteView code, std::uint64_t at, Dialect dialect) {
  StartFeatures found;
  if (at > code.size()) {
    return found;
  }
  found.landing_pad = is_landing_pad(code, at, dialect);
  const std::uint64_t behind = found.landing_pad ? at + 4 : at;
  found.prologue = looks_like_prologue(code, behind, dialect);
  found.catches = found.landing_pad && catches_exceptions(code, behind, dialect);
  found.behind_end = padding_before(code, at) != 0 || ends_before(code, at);
  return found;
}

class StartScanner {
 public:
  StartScanner(ByteView code, Address address, Dialect dialect, StartMarks& marks)
      : code_(code),
        bytes_(reinterpret_cast<const std::uint8_t*>(code.bytes().data())),
        size_(code.size()),
        address_(address),
        dialect_(dialect),
        marks_(marks),
        jumped_(size_ / kFunctionAlignment) {}

  void run() {
    for (auto* marks : {&marks_.call_targets, &marks_.prologues}) {
      marks->reserve(marks->size() + size_ / kBytesForAMark);
    }
    for (std::size_t at = 0; at < size_; at += kLane) {
      check_interrupt_at(at / kLane, kManyBytes / kLane);
      look_through_lane(at);
    }
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
        jump_to(at + 5 + distance(at + 1));
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

  void jump_to(std::uint64_t at) {
    at = wrap(at);
    if (at < size_ && (address_ + at) % kFunctionAlignment == 0) {
      jumped_.set(at / kFunctionAlignment);
    }
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
          padding_before(code_, at + 1) != 0) {
        continue;
      }
      const std::uint64_t behind_pad = is_landing_pad(code_, at, dialect_) ? at + 4 : at;
      if (looks_like_prologue(code_, behind_pad, dialect_)) {
        marks_.prologues.push_back(address_ + at);
      } else if (const std::size_t padding = whole_padding_before(code_, at);
                 padding != 0 && ends_before(code_, at - padding) &&
                 may_begin_function(code_, at, dialect_)) {
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
  BitMap jumped_;  // to which aligned addresses direct jumps go
};

}  // namespace

StartFeatures features_at_start_64(ByteView code, std::uint64_t at) {
  return features_at_start(code, at, Dialect::x86_64);
}
StartFeatures features_at_start_x32(ByteView code, std::uint64_t at) {
  return features_at_start(code, at, Dialect::x32);
}
StartFeatures features_at_start_32(ByteView code, std::uint64_t at) {
  return features_at_start(code, at, Dialect::i386);
}
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
