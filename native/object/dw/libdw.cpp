#include "object/dw/libdw.h"

#include <utility>

#include "base/error.h"
#include "base/regular_file.h"

namespace whocall {
namespace {

constexpr const char* kRemedy = "Install the debug file anew";

}  // namespace

OpenDwarf::OpenDwarf(DebugInfoFile file, GuardMapping guard) : image_(std::move(file.image)) {
  elf_version(EV_CURRENT);
  const auto begin = [&] {
    dwarf_.reset(elf_ != nullptr ? dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr) : nullptr);
    if (dwarf_ == nullptr) {
      throw Error(file.path, std::string("libdw does not take it: ") + dwarf_errmsg(-1), kRemedy);
    }
  };
  if (!image_.empty()) {
    elf_.reset(elf_memory(reinterpret_cast<char*>(image_.data()), image_.size()));
    begin();
    return;
  }
  // Mapped, so that nothing is read but what is looked at; the descriptor is not needed any more
  // once libdw has found out where the file lies (it looks for .dwo files there).
  struct stat status = {};
  const Descriptor descriptor(open_regular(file.path, status));
  elf_.reset(elf_begin(descriptor.get(), ELF_C_READ_MMAP, nullptr));
  std::size_t size = 0;
  if (const char* mapped = elf_rawfile(elf_.get(), &size); mapped != nullptr) {
    guard_ = guard({reinterpret_cast<const std::byte*>(mapped), size}, file.path);
  }
  begin();
  elf_cntl(elf_.get(), ELF_C_FDREAD);
}

const char* string_of(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute found;
  return dwarf_formstring(dwarf_attr_integrate(&die, attribute, &found));
}

std::size_t number_of(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  return dwarf_formudata(dwarf_attr(&die, attribute, &found), &value) == 0 ? value : 0;
}

bool step_to_sibling(Dwarf_Die& die) { return dwarf_siblingof(&die, &die) == 0; }

}  // namespace whocall
