#include "object/mips_got.h"

#include <elf.h>

#include "object/elf_dynamic.h"

namespace whocall {

std::optional<MipsGot> mips_got(const ElfFile& file) {
  // The first two words are the lazy binder's and the mark of GNU linkers.
  constexpr std::uint64_t kReserved = 2;
  constexpr std::uint64_t kMost = 1U << 16U;  // what one register reaches, in words of 4 bytes
  if (file.machine() != EM_MIPS) {
    return std::nullopt;
  }
  const ElfDynamic dynamic(file);
  const auto table = dynamic.value(DT_PLTGOT);
  const auto locals = dynamic.value(DT_MIPS_LOCAL_GOTNO);
  const auto first = dynamic.value(DT_MIPS_GOTSYM);
  if (!table || !locals || !first || *locals < kReserved || *locals > kMost) {
    return std::nullopt;
  }
  const std::uint64_t word = file.pointer_size();
  return MipsGot{{*table + kReserved * word, *table + *locals * word}, *first};
}

}  // namespace whocall
