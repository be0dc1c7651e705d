#include "symbols/discovery/startup_functions.h"

#include <elf.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "object/elf_decoder.h"
#include "object/elf_imports.h"

namespace whocall {
namespace {

bool starts_main(std::string_view import) {
  return import.starts_with("__libc_start_main") || import.starts_with("__uClibc_main");
}

// Whether what the start-up code calls is the C library's. A static file has no imports: there the
// form of the code has to do.
bool calls_c_library(const StartupCode& startup, const ElfFile& file) {
  const auto imports = imported_functions(file);
  if (startup.callee_slot) {
    const auto callee = imports.find(*startup.callee_slot);
    return callee == imports.end() ? imports.empty() : starts_main(callee->second);
  }
  return imports.empty() || file.interpreter().empty() ||
         std::ranges::any_of(imports, [](const auto& each) { return starts_main(each.second); });
}

std::optional<Address> word_at(const ElfFile& file, Address where) {
  if (imported_functions(file).contains(where)) {
    return std::nullopt;  // another file's main
  }
  std::optional<Address> found;
  for_each_relative_pointer(file, [&](Address each, Address target) {
    if (each == where) {
      found = target;
    }
  });
  if (!found && file.type() == ET_EXEC) {
    found = file.at(where).read_unsigned(0, file.pointer_size());
  }
  return found;
}

bool is_code(const ElfFile& file, Address address) {
  return std::ranges::any_of(file.segments(), [&](const ElfSegment& segment) {
    return segment.type == PT_LOAD && (segment.flags & PF_X) != 0 && address >= segment.address &&
           address - segment.address < segment.file_size;
  });
}

// Folklore. Situation: the start-up code hands over a jump to main that lies in its own file.
// Example: `__wrap_main` of i386's crt1.o from glibc 2.37 on, a few bytes behind _start. Remedy:
// main is where that goes. A main of the program's that is a jump (`return other();`) lies farther
// away.
Address past_wrapper(const ElfFile& file, const Architecture& arch, Address main, Address entry) {
  constexpr Address kRoom = 64;  // bytes of _start and what its file has besides
  if (main <= entry || main - entry >= kRoom) {
    return main;
  }
  const auto first = decoder_for(file, arch)->decode(file.at(main), main);
  return first && first->flow == Instruction::Flow::jump && first->target ? *first->target : main;
}

}  // namespace

std::vector<StartupFunction> startup_functions(const ElfFile& file, const Architecture& arch) {
  if (arch.linkage.startup == nullptr || file.entry() == 0) {
    return {};
  }
  const Address entry = arch.code_address(file.entry());
  std::vector<StartupFunction> found = {{entry, std::string(arch.linkage.entry_name)}};
  auto startup = arch.linkage.startup(file.at(entry), entry);
  if (startup && startup->next) {
    const Address next = *startup->next;
    found.push_back({next, "_start_c"});
    startup = arch.linkage.startup(file.at(next), next);
  }
  if (!startup || startup->next || !calls_c_library(*startup, file)) {
    return {};
  }
  const auto main = startup->main        ? startup->main
                    : startup->main_slot ? word_at(file, *startup->main_slot)
                                         : std::nullopt;
  if (main && is_code(file, arch.code_address(*main))) {
    found.push_back({past_wrapper(file, arch, arch.code_address(*main), entry), "main"});
  }
  return found;
}

}  // namespace whocall
