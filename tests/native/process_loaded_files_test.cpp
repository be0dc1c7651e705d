#include "process/modules/loaded_files.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>

#include "arch/architecture.h"
#include "memory/callback_memory.h"
#include "process_core_builder.h"

using namespace whocall;
using namespace whocall::testing;

namespace {

constexpr Address kBias = 0x555500000000;
constexpr Address kTable = 0x1000;   // link address of the dynamic table
constexpr Address kHeaders = 0x400;  // link address of program headers that were moved
constexpr Address kEntries = 0x7f0000000000;
constexpr Address kEntryApart = 0x100;

// A program with PT_PHDR, PT_INTERP and PT_DYNAMIC, whose r_debug lies at 0x2000 (link address).
struct Loaded {
  Bytes program = Bytes(0x3000);
  Bytes list;  // at kEntries; entries kEntryApart bytes apart, each followed by its path
  AuxiliaryVector auxiliary;

  explicit Loaded(Address headers = sizeof(Elf64_Ehdr)) {
    Elf64_Ehdr header = header64(ET_DYN);
    header.e_phoff = headers;
    header.e_phnum = 4;
    put(program, 0, header);
    const auto segment = [&](unsigned index, std::uint32_t type, Address at, std::uint64_t size) {
      Elf64_Phdr entry = {};
      entry.p_type = type;
      entry.p_offset = entry.p_vaddr = at;
      entry.p_filesz = entry.p_memsz = size;
      put(program, headers + index * sizeof(entry), entry);
    };
    segment(0, PT_PHDR, headers, 4 * sizeof(Elf64_Phdr));
    segment(1, PT_INTERP, 0x800, 0x10);
    segment(2, PT_LOAD, 0, program.size());
    segment(3, PT_DYNAMIC, kTable, 0x20);
    std::memcpy(program.data() + 0x800, "/lib/ld.so", 11);
    put(program, kTable, Elf64_Dyn{DT_DEBUG, {kBias + 0x2000}});
    put(program, 0x2008, std::uint64_t{kEntries});
    auxiliary.set(AT_PHDR, kBias + headers);
    auxiliary.set(AT_PHNUM, 4);
    auxiliary.set(AT_PHENT, sizeof(Elf64_Phdr));
    auxiliary.set(AT_BASE, 0x7e0000000000);
    add("");
  }

  static Address entry(std::size_t index) { return kEntries + index * kEntryApart; }

  void add(const std::string& path) {
    const std::size_t index = list.size() / kEntryApart;
    list.resize(list.size() + kEntryApart);
    const std::size_t at = index * kEntryApart;
    std::memcpy(list.data() + at + 0x40, path.data(), path.size());
    set(index, 0, 0x1000 * index);
    set(index, 1, entry(index) + 0x40);
    if (index > 0) {
      set(index - 1, 3, entry(index));
      set(index, 4, entry(index - 1));
    }
  }

  // Word `word` of struct link_map number `index`.
  void set(std::size_t index, unsigned word, std::uint64_t value) {
    put(list, index * kEntryApart + 8 * word, value);
  }

  [[nodiscard]] std::vector<LoadedFile> files() const {
    const auto part = [](const Bytes& bytes, Address offset, std::size_t size) {
      return offset < bytes.size()
                 ? part_of(bytes, offset, std::min<std::size_t>(size, bytes.size() - offset))
                 : Bytes();
    };
    const CallbackMemory memory([&](Address address, std::size_t size) {
      return address >= kEntries ? part(list, address - kEntries, size)
                                 : part(program, address - kBias, size);
    });
    return loaded_files(memory, auxiliary, *find_architecture("x86_64"), "/bin/prog");
  }

  [[nodiscard]] std::vector<std::string> paths() const {
    std::vector<std::string> found;
    for (const auto& file : files()) {
      found.push_back(file.path);
    }
    return found;
  }
};

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("loaded files: the program, and the linker's list without what is no file") {
  Loaded loaded;
  loaded.add("linux-vdso.so.1");
  loaded.add("/lib/libc.so.6");
  const auto files = loaded.files();
  REQUIRE(files.size() == 2);
  CHECK(files[0].path == "/bin/prog");
  CHECK(files[0].bias == kBias);
  CHECK(files[0].is_executable);
  CHECK(files[1].path == "/lib/libc.so.6");
  CHECK(files[1].bias == 0x2000);
  CHECK_FALSE(files[1].is_executable);
}

TEST_CASE("loaded files: before the linker has run there is only itself") {
  Loaded loaded;
  put(loaded.program, kTable, Elf64_Dyn{DT_DEBUG, {0}});
  CHECK(loaded.paths() == Paths{"/bin/prog", "/lib/ld.so"});
  CHECK(loaded.files()[1].bias == 0x7e0000000000);
}

TEST_CASE("loaded files: program headers that were moved away from the ELF header") {
  Loaded loaded(kHeaders);
  loaded.add("/lib/libc.so.6");
  CHECK(loaded.paths() == Paths{"/bin/prog", "/lib/libc.so.6"});
  CHECK(loaded.files()[0].bias == kBias);
  SUBCASE("of another size than any") { loaded.auxiliary.set(AT_PHENT, 24); }
  SUBCASE("and too many") { loaded.auxiliary.set(AT_PHNUM, ~std::uint64_t{0}); }
  SUBCASE("and unreadable") { loaded.auxiliary.set(AT_PHDR, 0x10); }
  CHECK(loaded.paths().at(0) == "/bin/prog");
}

TEST_CASE("loaded files: of bare metal the program at its link addresses") {
  Loaded loaded;
  loaded.auxiliary = {};
  CHECK(loaded.paths() == Paths{"/bin/prog"});
  CHECK(loaded.files()[0].bias == 0);
}

TEST_CASE("loaded files: a damaged list gives what was read of it, and ends") {
  Loaded loaded;
  loaded.add("/lib/liba.so");
  loaded.add("/lib/libb.so");
  Paths expected = {"/bin/prog", "/lib/liba.so", "/lib/libb.so"};
  SUBCASE("a circle") { loaded.set(2, 3, Loaded::entry(1)); }
  SUBCASE("an entry that is its own next") { loaded.set(2, 3, Loaded::entry(2)); }
  SUBCASE("a wild pointer") { loaded.set(2, 3, 0x4141414141414141); }
  SUBCASE("a path that cannot be read") {
    loaded.set(1, 1, 0x4141414141414141);
    expected.erase(expected.begin() + 1);
  }
  CHECK(loaded.paths() == expected);
}

TEST_CASE("loaded files: a list without an end is read up to a limit") {
  Loaded loaded;
  loaded.add("/lib/liba.so");
  loaded.add("/lib/libb.so");
  SUBCASE("a circle whose links agree both ways") {
    loaded.set(2, 3, Loaded::entry(0));
    loaded.set(0, 4, Loaded::entry(2));
  }
  SUBCASE("more entries than any program has") {
    for (int count = 0; count < 20'000; ++count) {
      loaded.add("/lib/libmore.so");
    }
  }
  CHECK(loaded.files().size() < 10'000);
}
