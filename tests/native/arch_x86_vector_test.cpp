// The lengths of vector and mask instructions, against the bytes that gas writes for them.
#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "arch/x86/vector.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

struct Encoded {
  Bytes code;
  std::optional<std::uint8_t> written{};  // general register, by its number in machine code
};

const std::vector<Encoded>& encoded_64() {
  static const std::vector<Encoded> list = {
      {{0xc5, 0xf8, 0x77}},                    // vzeroupper
      {{0xc5, 0xfb, 0x93, 0xc1}, 0},           // kmovd %k1,%eax
      {{0xc4, 0x61, 0xfb, 0x93, 0xdb}, 11},    // kmovq %k3,%r11
      {{0xc4, 0xe1, 0xfb, 0x92, 0xd8}},        // kmovq %rax,%k3
      {{0xc5, 0xf8, 0x90, 0x4f, 0x10}},        // kmovw 0x10(%rdi),%k1
      {{0xc4, 0xe1, 0xec, 0x4b, 0xd9}},        // kunpckdq %k1,%k2,%k3
      {{0xc4, 0xe1, 0xf9, 0x98, 0xc0}},        // kortestd %k0,%k0
      {{0xc4, 0xe3, 0xf9, 0x31, 0xd1, 0x03}},  // kshiftrq $3,%k1,%k2
      // vpcmpeqb (%rdi),%ymm16,%k0
      {{0x62, 0xf1, 0x7d, 0x20, 0x74, 0x07}},
      // vpternlogd $0x96,%zmm1,%zmm2,%zmm3{%k1}{z}
      {{0x62, 0xf3, 0x6d, 0xc9, 0x25, 0xd9, 0x96}},
      // vmovdqu64 %zmm16,-0x40(%rsi,%rdx,4)
      {{0x62, 0xe1, 0xfe, 0x48, 0x7f, 0x44, 0x96, 0xff}},
      // vmovdqu8 0x12345678(,%rcx,8),%zmm17
      {{0x62, 0xe1, 0x7f, 0x48, 0x6f, 0x0c, 0xcd, 0x78, 0x56, 0x34, 0x12}},
      // vpminub 0x12345678(%rip),%ymm17,%ymm18
      {{0x62, 0xe1, 0x75, 0x20, 0xda, 0x15, 0x78, 0x56, 0x34, 0x12}},
      // vpminub %fs:0x40(%r12),%ymm17,%ymm18
      {{0x64, 0x62, 0xc1, 0x75, 0x20, 0xda, 0x54, 0x24, 0x02}},
      // vmovdqa64 (%eax),%zmm19
      {{0x67, 0x62, 0xe1, 0xfd, 0x48, 0x6f, 0x18}},
      // vptestnmb %ymm16,%ymm17,%k2
      {{0x62, 0xb2, 0x76, 0x20, 0x26, 0xd0}},
      // vpshufd $0x1b,%zmm20,%zmm21
      {{0x62, 0xa1, 0x7d, 0x48, 0x70, 0xec, 0x1b}},
      // vpsrlq $7,%zmm20,%zmm21
      {{0x62, 0xb1, 0xd5, 0x40, 0x73, 0xd4, 0x07}},
      // vcmpneqps (%rax){1to16},%zmm1,%k4
      {{0x62, 0xf1, 0x74, 0x58, 0xc2, 0x20, 0x04}},
      // vpextrw $1,%xmm16,%ecx
      {{0x62, 0xb1, 0x7d, 0x08, 0xc5, 0xc8, 0x01}, 1},
      // vpextrd $1,%xmm17,%r9d
      {{0x62, 0xc3, 0x7d, 0x08, 0x16, 0xc9, 0x01}, 9},
      // vpextrb $1,%xmm17,(%r9)
      {{0x62, 0xc3, 0x7d, 0x08, 0x14, 0x09, 0x01}},
      // vextractps $2,%xmm18,%ebx
      {{0x62, 0xe3, 0x7d, 0x08, 0x17, 0xd3, 0x02}, 3},
      // vmovd %xmm16,%r11d
      {{0x62, 0xc1, 0x7d, 0x08, 0x7e, 0xc3}, 11},
      // vmovq %xmm17,%rdx
      {{0x62, 0xe1, 0xfd, 0x08, 0x7e, 0xca}, 2},
      // vmovq %xmm17,(%rdx)
      {{0x62, 0xe1, 0xfd, 0x08, 0x7e, 0x0a}},
      // vcvttsd2si %xmm16,%r10
      {{0x62, 0x31, 0xff, 0x08, 0x2c, 0xd0}, 10},
      // vcvtsd2usi %xmm16,%ebp
      {{0x62, 0xb1, 0x7f, 0x08, 0x79, 0xe8}, 5},
      // vcvttss2si 0x8(%rsp),%r15d
      {{0xc5, 0x7a, 0x2c, 0x7c, 0x24, 0x08}, 15},
      // vaddph %zmm1,%zmm2,%zmm3
      {{0x62, 0xf5, 0x6c, 0x48, 0x58, 0xd9}},
      // vfmadd132sh %xmm1,%xmm2,%xmm3
      {{0x62, 0xf6, 0x6d, 0x08, 0x99, 0xd9}},
      // vmovw %xmm5,%eax
      {{0x62, 0xf5, 0x7d, 0x08, 0x7e, 0xe8}, 0},
      {{0x0f, 0x01, 0xee}, 0},  // rdpkru
  };
  return list;
}

const std::vector<Encoded>& encoded_32() {
  static const std::vector<Encoded> list = {
      {{0xc5, 0xf8, 0x77}},           // vzeroupper
      {{0xc5, 0xfb, 0x93, 0xd9}, 3},  // kmovd %k1,%ebx
      // vpcmpeqb (%edi),%ymm1,%k0
      {{0x62, 0xf1, 0x75, 0x28, 0x74, 0x07}},
      // vpternlogd $0x96,%zmm1,%zmm2,%zmm3
      {{0x62, 0xf3, 0x6d, 0x48, 0x25, 0xd9, 0x96}},
      // vmovdqu64 %zmm6,-0x40(%esi,%edx,4)
      {{0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x74, 0x96, 0xff}},
      // vmovdqu64 0x12345678,%zmm6
      {{0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x35, 0x78, 0x56, 0x34, 0x12}},
      {{0xc5, 0xf9, 0xc5, 0xf1, 0x01}, 6},  // vpextrw $1,%xmm1,%esi
      {{0xc5, 0xf9, 0x7e, 0xca}, 2},        // vmovd %xmm1,%edx
      {{0xc5, 0xfb, 0x2c, 0xf9}, 7},        // vcvttsd2si %xmm1,%edi
  };
  return list;
}

const std::vector<Encoded>& encoded(bool is_64) { return is_64 ? encoded_64() : encoded_32(); }

TEST_CASE("vector instructions: their size, whatever follows, and the general register written") {
  for (const bool is_64 : {true, false}) {
    for (const Encoded& one : encoded(is_64)) {
      CAPTURE(is_64);
      CAPTURE(&one - encoded(is_64).data());
      Bytes code = one.code;
      for (const unsigned filler : {0x00U, 0x90U, 0xffU}) {
        const auto found = x86::read_vector_instruction(code.view(), is_64);
        REQUIRE(found.has_value());
        CHECK(found->size == one.code.size());
        CHECK(found->written == one.written);
        code = one.code;
        code.fill(3, static_cast<std::uint8_t>(filler));
      }
    }
  }
}

TEST_CASE("vector instructions: cut off anywhere they are a miss, and nothing beyond is read") {
  for (const bool is_64 : {true, false}) {
    for (const Encoded& one : encoded(is_64)) {
      CAPTURE(is_64);
      CAPTURE(&one - encoded(is_64).data());
      for (std::size_t size = 0; size < one.code.size(); ++size) {
        // An allocation of exactly this size: the sanitizer sees a read beyond it.
        const std::vector<std::byte> part(one.code.get().begin(), one.code.get().begin() + size);
        CHECK_FALSE(x86::read_vector_instruction(ByteView(part, Endian::little), is_64));
      }
    }
  }
}

TEST_CASE("vector instructions: what looks like them is none") {
  const auto is_none = [](const Bytes& code, bool is_64) {
    return !x86::read_vector_instruction(code.view(), is_64);
  };
  // Without 64-bit mode a memory operand makes these lds, les and bound.
  CHECK(is_none({0xc5, 0x78, 0x77, 0, 0, 0}, false));
  CHECK(is_none({0xc4, 0x61, 0xfb, 0x93, 0xdb}, false));
  CHECK(is_none({0x62, 0x31, 0x7d, 0x20, 0x74, 0x07}, false));
  CHECK(is_none({0x62, 0xf1, 0x79, 0x20, 0x74, 0x07}, true));  // a bit that EVEX has set is clear
  CHECK(is_none({0xc4, 0xff, 0xfb, 0x93, 0xdb, 0, 0}, true));  // an opcode map that is none
  CHECK(is_none({0x62, 0xf0, 0x7d, 0x20, 0x74, 0x07, 0}, true));
  CHECK(is_none({0x55, 0x48, 0x89, 0xe5}, true));  // push %rbp; mov %rsp,%rbp
  CHECK(is_none({0x0f, 0x01, 0x10}, true));        // lgdt (%rax)
  // More prefixes than an instruction can have.
  CHECK(is_none(Bytes().fill(64, 0x64).append(Bytes{0xc5, 0xf8, 0x77}), true));
}

}  // namespace
}  // namespace whocall::test
