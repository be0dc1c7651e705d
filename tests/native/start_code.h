// Small files of code in which the tests of starts look for functions.
#pragma once

#include "symbols/discovery/function_starts.h"
#include "unwind_code.h"

namespace whocall::test {

inline constexpr Address kText = 0x401000;
inline constexpr Address kData = 0x402000;

// Code in pieces of 32 bytes, padded with int3.
class Code {
 public:
  Address add(const Bytes& piece) {
    const Address address = kText + bytes_.size();
    bytes_.append(piece).fill(32 - piece.size(), 0xcc);
    return address;
  }
  [[nodiscard]] Address next() const { return kText + bytes_.size(); }
  Address call(Address target) {  // call target; ret
    return add(Bytes{0xe8}.u32(target - (next() + 5)).u8(0xc3));
  }
  [[nodiscard]] CodeFile file(const Architecture& arch) const {
    return CodeFile(arch).code(kText, bytes_);
  }

 private:
  Bytes bytes_;
};

inline FunctionStarts starts_of(const Architecture& arch, const CodeFile& parts) {
  const auto file = parts.file();
  return {*file, arch, *SymbolTable::from_elf(file)};
}

// push %rbp; mov %rsp,%rbp; pop %rbp; ret: the same in both instruction sets but for one prefix
inline Bytes framed(const Architecture& arch) {
  return arch.abi.pointer_size == 8 ? Bytes{0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}
                                    : Bytes{0x55, 0x89, 0xe5, 0x5d, 0xc3};
}

}  // namespace whocall::test
