// How a place in x86 code looks, as the start of a function: what stands before it, and how it
// begins.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/x86/code.h"
#include "arch/x86/opcode_filter.h"

namespace whocall::x86 {

inline bool is_landing_pad(ByteView code, std::uint64_t at, Dialect dialect) {
  return code.read<std::uint32_t>(at) == (dialect == Dialect::i386 ? kEndbr32 : kEndbr64);
}

// The nops that assemblers and linkers fill gaps with, without prefixes, and lea 0(%esi),%esi.
inline constexpr std::array<std::string_view, 9> kPadding = {
    std::string_view("\x0f\x1f\x84\0\0\0\0\0", 8),
    std::string_view("\x0f\x1f\x80\0\0\0\0", 7),
    std::string_view("\x8d\xb4\x26\0\0\0\0", 7),
    std::string_view("\x8d\xb6\0\0\0\0", 6),
    std::string_view("\x0f\x1f\x44\0\0", 5),
    std::string_view("\x8d\x74\x26\0", 4),
    std::string_view("\x0f\x1f\x40\0", 4),
    std::string_view("\x0f\x1f\0", 3),
    std::string_view("\x8d\x76\0", 3)};

inline bool is_padding_prefix(std::uint8_t byte) { return byte == 0x66 || byte == 0x2e; }

// The size of the padding instruction that ends at `at`; 0 when none does.
inline std::size_t padding_before(ByteView code, std::uint64_t at) {
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
  while (size != 0 && size < 15 && at > size && byte(at - 1) != 0xcc &&
         is_padding_prefix(byte(at - size - 1))) {
    ++size;
  }
  return size;
}

// The size of all padding that ends at `at`.
inline std::size_t whole_padding_before(ByteView code, std::uint64_t at) {
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

// The size of the padding instruction that begins at `at`; 0 when none does.
inline std::size_t padding_at(ByteView code, std::uint64_t at) {
  const auto byte = [&](std::uint64_t ahead) {
    return code.read<std::uint8_t>(at + ahead).value_or(0);
  };
  std::size_t prefixes = 0;
  while (prefixes < 12 && is_padding_prefix(byte(prefixes))) {
    ++prefixes;
  }
  if (byte(prefixes) == 0x90 || byte(0) == 0xcc) {
    return prefixes + 1;
  }
  if (byte(prefixes) != 0x0f && byte(prefixes) != 0x8d) {
    return 0;  // nearly always
  }
  const auto rest = code.from(at + prefixes).bytes();
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  const auto* const nop =
      std::ranges::find_if(kPadding, [&](std::string_view each) { return text.starts_with(each); });
  return nop == kPadding.end() ? 0 : prefixes + nop->size();
}

// Where the padding that begins at `at` ends, of no more than so many instructions, if that is
// aligned; `at` itself otherwise.
inline std::uint64_t behind_padding(ByteView code, Address address, std::uint64_t at,
                                    unsigned most) {
  std::uint64_t end = at;
  for (unsigned i = 0; i < most && (end == at || (address + end) % kFunctionAlignment != 0); ++i) {
    const std::size_t size = padding_at(code, end);
    if (size == 0) {
      return at;
    }
    end += size;
  }
  return (address + end) % kFunctionAlignment == 0 ? end : at;
}

// Whether an instruction that never goes on behind itself ends at `at`: ret, jmp, hlt, ud2.
//
// Folklore. Situation: the last bytes of other instructions are the same as those of ret, jmp or
// hlt. Example: mov %rsi,%r12 (49 89 f4), mov %rax,%rbx (48 89 c3) and mov %rbp,%rbx (48 89 eb)
// before pushes that happen to be aligned, in the middle of a prologue that was compiled for size.
// Remedy: behind the opcode of a move between registers stand its operands, and programs halt only
// behind the call of what never returns.
inline bool ends_before(ByteView code, std::uint64_t at) {
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
inline bool looks_like_prologue(ByteView code, std::uint64_t at, Dialect dialect) {
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
inline bool may_begin_function(ByteView code, std::uint64_t at, Dialect dialect) {
  constexpr std::string_view kOthers = "\xe8\xe9\xb8\x31\x33\xc3\x65\xa1";
  const auto byte = [&](std::uint64_t ahead) {
    return code.read<std::uint8_t>(at + ahead).value_or(0);
  };
  constexpr std::uint8_t kBaseIsSp = 0x24;  // SIB
  return dialect != Dialect::i386 || byte(2) == kBaseIsSp || byte(3) == kBaseIsSp ||
         kOthers.find(static_cast<char>(byte(0))) != std::string_view::npos;
}

// Folklore. Situation: code for processors that check indirect jumps has landing pads inside
// functions too: where exceptions are caught. Examples: endbr64; mov %rax,%rbx, as the exception
// arrives in %rax; endbr32; sub $12,%esp; mov %eax,-28(%ebp). Remedy: no function begins by reading
// the register of return values, nor by using a frame before it has set one up.
inline bool catches_exceptions(ByteView code, std::uint64_t at, Dialect dialect) {
  const auto byte = [&](std::uint64_t ahead) -> unsigned {
    return code.read<std::uint8_t>(at + ahead).value_or(0);
  };
  const auto moves = [&](std::uint64_t ahead) {  // to or from a slot of the frame
    const unsigned slot = byte(ahead + 1) & 0xc7U;
    return (byte(ahead) == 0x89 || byte(ahead) == 0x8b) && (slot == 0x45 || slot == 0x85);
  };
  const bool wide = dialect != Dialect::i386 && (byte(0) & 0xf8U) == 0x48;
  const bool to_later_register = dialect == Dialect::x32 && byte(0) == 0x41;
  const std::uint64_t opcode = wide || to_later_register ? 1 : 0;
  const bool other_register = wide && (byte(0) & 4U) != 0;
  const bool reads_result =
      byte(opcode) == 0x89 && (byte(opcode + 1) & 0x38U) == 0 && !other_register;
  const bool lowers_sp = dialect == Dialect::i386 && byte(0) == 0x83 && byte(1) == 0xec;
  return reads_result || moves(opcode) || (lowers_sp && moves(3));
}

// Folklore. Situation: what catches an exception is most often in the cold part of its function,
// and the landing pad jumps there. Example: ret; endbr32; jmp f.cold+5, with f.cold where the
// compiler aligns nothing. Remedy: a thunk jumps to a function, which is aligned or can be called
// indirectly, and it is aligned itself, with padding before it but where none is needed.
inline bool leaves_function(ByteView code, std::uint64_t at, Dialect dialect) {
  const std::optional<std::uint32_t> distance = code.read<std::uint32_t>(at + 1);
  if (code.read<std::uint8_t>(at) != 0xe9 || !distance) {
    return false;
  }
  const std::int64_t ahead = static_cast<std::int32_t>(*distance);
  const std::uint64_t target = at + 5 + static_cast<std::uint64_t>(ahead);
  return target < code.size() && target % kFunctionAlignment != 0 &&
         !is_landing_pad(code, target, dialect);
}

inline StartFeatures features_at_start(ByteView code, std::uint64_t at, Dialect dialect) {
  StartFeatures found;
  if (at > code.size()) {
    return found;
  }
  found.landing_pad = is_landing_pad(code, at, dialect);
  const std::uint64_t behind = found.landing_pad ? at + 4 : at;
  found.prologue = looks_like_prologue(code, behind, dialect);
  found.catches = found.landing_pad && catches_exceptions(code, behind, dialect);
  const bool padded = padding_before(code, at) != 0;
  found.leaves = found.landing_pad && !padded && leaves_function(code, behind, dialect);
  found.behind_end = padded || ends_before(code, at);
  return found;
}

}  // namespace whocall::x86
