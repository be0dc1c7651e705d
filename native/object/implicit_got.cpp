#include "object/implicit_got.h"

#include <elf.h>

#include "arch/elf_machine.h"
#include "object/elf_dynamic.h"

namespace whocall {

std::optional<ImplicitGot> implicit_got(const ElfFile& file) {
  // The first two words are the lazy binder's and the mark of GNU linkers.
  constexpr std::uint64_t kReserved = 2;
  constexpr std::uint64_t kMost = 1U << 16U;  // what one register reaches, in words of 4 bytes
  const ElfMachine& machine = elf_machine(file.machine());
  if (machine.local_words_tag == 0) {
    return std::nullopt;
  }
  const ElfDynamic dynamic(file);
  const auto table = dynamic.value(DT_PLTGOT);
  const auto locals = dynamic.value(machine.local_words_tag);
  const auto first = dynamic.value(machine.first_symbol_tag);
  if (!table || !locals || !first || *locals < kReserved || *locals > kMost) {
    return std::nullopt;
  }
  const std::uint64_t word = file.pointer_size();
  return ImplicitGot{{*table + kReserved * word, *table + *locals * word}, *first};
}

}  // namespace whocall
