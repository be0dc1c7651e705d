// What of x86-64 instructions linking decides, as the assembler writes them.
#include <doctest/doctest.h>

#include "arch/instruction.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr AddressRange kImage{0x400000, 0x500000};
constexpr AddressRange kFunction{0x401000, 0x401100};

PlacedOperands read(const Bytes& code, bool fixed = false) {
  const auto reader = kX86_64.code.make_placed_reader({kImage, fixed});
  reader->begin();
  return reader->read(ByteView(code.get(), Endian::little), 0x401010, kFunction);
}

// Whether exactly the bytes [begin, end) are taken out of the instruction, which led to `target`.
bool is_blank(const Bytes& code, std::size_t begin, std::size_t end, Address target,
              bool fixed = false) {
  const PlacedOperands found = read(code, fixed);
  bool right =
      found.size == code.get().size() && found.count == 1 && found.targets[0].address == target;
  for (std::size_t i = 0; i < found.size; ++i) {
    const std::byte wanted = i >= begin && i < end ? std::byte{0} : code.get()[i];
    right = right && found.bytes.at(i) == wanted;
  }
  return right;
}

bool stays(const Bytes& code, bool fixed = false) {
  const PlacedOperands found = read(code, fixed);
  return found.count == 0 && std::equal(code.get().begin(), code.get().end(), found.bytes.begin());
}

TEST_CASE("placed operands: calls and jumps that leave the function") {
  CHECK(is_blank({0xe8, 0xeb, 0x0f, 0, 0}, 1, 5, 0x402000));        // call
  CHECK(is_blank({0xe9, 0xeb, 0x0f, 0, 0}, 1, 5, 0x402000));        // jmp
  CHECK(is_blank({0x0f, 0x84, 0xea, 0x0f, 0, 0}, 2, 6, 0x402000));  // je
  CHECK(is_blank({0xe8, 0xeb, 0xff, 0xff, 0xff}, 1, 5, 0x401000));  // call of itself
  CHECK(stays({0xeb, 0x20}));                                       // jmp within
  CHECK(stays({0x0f, 0x84, 0x20, 0, 0, 0}));                        // je within
  CHECK(stays({0xe9, 0xeb, 0xff, 0xff, 0xff}));                     // jmp to its start
}

TEST_CASE("placed operands: distances from rip") {
  CHECK(is_blank({0x48, 0x8d, 0x3d, 0xe9, 0x0f, 0, 0}, 3, 7, 0x402000));              // lea
  CHECK(is_blank({0xff, 0x15, 0xea, 0x0f, 0, 0}, 2, 6, 0x402000));                    // call *
  CHECK(is_blank({0xf2, 0x0f, 0x10, 0x05, 0xe8, 0x0f, 0, 0}, 4, 8, 0x402000));        // movsd
  CHECK(is_blank({0x66, 0x0f, 0x38, 0x00, 0x05, 0xe7, 0x0f, 0, 0}, 5, 9, 0x402000));  // pshufb
  CHECK(is_blank({0xc5, 0xfb, 0x10, 0x05, 0xe8, 0x0f, 0, 0}, 4, 8, 0x402000));        // vmovsd
  CHECK(is_blank({0xc4, 0xe2, 0x7d, 0x18, 0x05, 0xe7, 0x0f, 0, 0}, 5, 9, 0x402000));  // vbroadcast
  CHECK(is_blank({0x62, 0xf1, 0x7c, 0x48, 0x28, 0x05, 0xe6, 0x0f, 0, 0}, 6, 10,
                 0x402000));                                                    // vmovaps zmm
  CHECK(is_blank({0x83, 0x3d, 0xe9, 0x0f, 0, 0, 0x05}, 2, 6, 0x402000));        // cmpl $5
  CHECK(is_blank({0xc7, 0x05, 0xe6, 0x0f, 0, 0, 1, 0, 0, 0}, 2, 6, 0x402000));  // movl $1
  CHECK(stays({0x48, 0x8d, 0x3d, 0xff, 0xff, 0xff, 0x7f}));                     // outside
}

TEST_CASE("placed operands: addresses, where code may name them") {
  CHECK(is_blank({0xbf, 0x00, 0x20, 0x40, 0}, 1, 5, 0x402000, true));              // mov $,%edi
  CHECK(is_blank({0x48, 0xc7, 0xc7, 0x00, 0x20, 0x40, 0}, 3, 7, 0x402000, true));  // mov $,%rdi
  CHECK(is_blank({0x68, 0x00, 0x20, 0x40, 0}, 1, 5, 0x402000, true));              // push $
  CHECK(is_blank({0x48, 0x3d, 0x00, 0x20, 0x40, 0}, 2, 6, 0x402000, true));        // cmp $,%rax
  CHECK(is_blank({0xff, 0x24, 0xc5, 0x00, 0x20, 0x40, 0}, 3, 7, 0x402000, true));  // jmp *(,%rax,8)
  CHECK(is_blank({0x8b, 0x80, 0x00, 0x20, 0x40, 0}, 2, 6, 0x402000, true));  // mov (%rax),%eax
  CHECK(is_blank({0x8b, 0x04, 0x25, 0x00, 0x20, 0x40, 0}, 3, 7, 0x402000, true));  // mov 0x402000
  CHECK(stays({0xbf, 0x00, 0x20, 0x40, 0}));        // not in position-independent code
  CHECK(stays({0xbf, 0x00, 0x20, 0x60, 0}, true));  // outside
  CHECK(stays({0x64, 0x8b, 0x04, 0x25, 0x00, 0x20, 0x40, 0}, true));  // mov %fs:0x402000
}

TEST_CASE("placed operands: everything else stays, and bytes that are cut off are not read") {
  CHECK(stays({0xc3}));
  CHECK(stays({0x48, 0x89, 0xe5}));                    // mov %rsp,%rbp
  CHECK(stays({0x48, 0x83, 0xec, 0x28}));              // sub $40,%rsp
  CHECK(stays({0x8b, 0x44, 0x24, 0x0c}));              // mov 12(%rsp),%eax
  CHECK(stays({0x48, 0x81, 0xec, 0, 1, 0, 0}, true));  // sub $256,%rsp
  for (const Bytes& cut : {Bytes{0xe8}, Bytes{0x48}, Bytes{0x0f}, Bytes{0x62, 0xf1}, Bytes{0xc4},
                           Bytes{0x8b, 0x05}, Bytes{0x66, 0x66, 0x66}, Bytes{}}) {
    CHECK(stays(cut, true));
  }
}

}  // namespace
}  // namespace whocall::test
