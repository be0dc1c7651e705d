#include <doctest/doctest.h>

#include <random>

#include "base/error.h"
#include "process/core/core_file.h"
#include "process/process_image.h"
#include "process_core_builder.h"

using namespace whocall;
using namespace whocall::testing;

namespace {

constexpr Address kBias = 0x555500000000;
constexpr Address kStack = 0x7ffc00000000;
constexpr Address kApart = kBias + 0x100000;

const Architecture& x86_64() { return *find_architecture("x86_64"); }

std::string message_of(const std::string& path) {
  try {
    open_core(path, {});
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct Parts {
  bool headers = true;  // the program's first page is dumped
  bool code = false;    // its code is dumped
  bool file_note = true;
  bool code_twice = false;  // a page of it far above, as libffi has one
  std::string program_path = "/nowhere/prog";
};

// A core of tiny_program(ET_DYN, 0, "AAAA") with its stack.
CoreBuilder core_with(const Parts& parts) {
  const Architecture& arch = x86_64();
  const Bytes program = tiny_program(ET_DYN, 0, "AAAA");
  CoreBuilder core(arch);
  core.note(NT_PRSTATUS, prstatus(arch, 12, 11, kBias + 0x1020, kStack));
  core.note(NT_PRPSINFO, prpsinfo(arch, 12, "prog", parts.program_path));
  core.note(NT_AUXV, auxiliary_vector(arch, {{AT_PHDR, kBias + 64}, {AT_ENTRY, kBias + 0x1010}}));
  if (parts.file_note) {
    std::vector<FileRow> rows = {{kBias, kBias + 0x1000, 0, parts.program_path},
                                 {kBias + 0x1000, kBias + 0x2000, 1, parts.program_path},
                                 {kBias + 0x2000, kBias + 0x3000, 2, parts.program_path}};
    if (parts.code_twice) {
      rows.push_back({kApart, kApart + 0x1000, 1, parts.program_path});
    }
    core.note(NT_FILE, file_note(arch, rows));
  }
  core.load(kBias, PF_R, parts.headers ? part_of(program, 0, 0x1000) : Bytes(), 0x1000);
  core.load(kBias + 0x1000, PF_R | PF_X, parts.code ? part_of(program, 0x1000, 0x1000) : Bytes(),
            0x1000);
  core.load(kBias + 0x2000, PF_R | PF_W, parts.code ? Bytes(0x1000, std::byte{5}) : Bytes(),
            0x1000);
  if (parts.code_twice) {
    core.load(kApart, PF_R | PF_X, {}, 0x1000);
  }
  core.load(kStack, PF_R | PF_W, Bytes(0x1000, std::byte{9}), 0x1000);
  return core;
}

}  // namespace

TEST_CASE("a core with its program") {
  const TemporaryDirectory directory;
  const std::string program = directory.write("prog", tiny_program(ET_DYN, 0, "AAAA"));
  const std::string core = directory.write("core", core_with({}).build());
  for (const bool by_directory : {false, true}) {
    FileSearch search;
    if (by_directory) {
      search.directories = {directory.path()};
    } else {
      search.exe = program;
    }
    const auto image = open_core(core, search);
    CHECK(image->arch == &x86_64());
    CHECK(image->core_path == core);
    CHECK(image->exe_path == program);
    CHECK(image->pid == 12);
    CHECK(image->warnings.empty());
    REQUIRE(image->modules.size() == 1);
    const Module& module = image->modules[0];
    CHECK(module.state == ModuleState::found);
    CHECK(module.path == "/nowhere/prog");
    CHECK(module.file_path == program);
    CHECK(module.bias == kBias);
    CHECK(module.range == AddressRange{kBias, kBias + 0x3000});
    CHECK(module.is_executable);
    CHECK(module.build_id_in_memory == "41414141");
    CHECK(module.remark.empty());
    // Code comes from the file, the stack from the core, and unwritten data from nowhere.
    CHECK(image->memory->read_unsigned(kBias + 0x1ffe, 1, Endian::little) == 0x90);
    CHECK(image->memory->read_unsigned(kStack, 1, Endian::little) == 9);
    CHECK(image->memory->run_at(kBias + 0x2000).empty());
    CHECK(image->is_code(kBias + 0x1000));
    CHECK_FALSE(image->is_code(kBias + 0x2000));
    CHECK_FALSE(image->is_code(kStack));
    CHECK(image->module_at(kBias + 0x2fff) == &module);
    CHECK(image->module_at(kBias + 0x3000) == nullptr);
    CHECK(image->module_at(kBias - 1) == nullptr);
  }
}

TEST_CASE("a program with another build id lends nothing") {
  const TemporaryDirectory directory;
  FileSearch search;
  search.exe = directory.write("prog", tiny_program(ET_DYN, 0, "BBBB"));
  const std::string core = directory.write("core", core_with({}).build());
  const auto image = open_core(core, search);
  REQUIRE(image->modules.size() == 1);
  const Module& module = image->modules[0];
  CHECK(module.state == ModuleState::mismatch);
  CHECK(module.file == nullptr);
  CHECK(module.build_id_on_disk == "42424242");
  CHECK(says(module.remark, "42424242"));
  CHECK(says(module.remark, "41414141"));
  CHECK(says(module.remark, "--search"));
  CHECK(image->memory->run_at(kBias + 0x1000).empty());
  REQUIRE(image->warnings.size() == 1);
  CHECK(says(image->warnings[0], "is not the program that was running"));

  // The right one under another name, in a directory that the user names.
  const TemporaryDirectory other;
  search.directories = {other.path()};
  const std::string right = other.write("renamed", tiny_program(ET_DYN, 0, "AAAA"));
  const auto better = open_core(core, search);
  CHECK(better->modules.at(0).state == ModuleState::found);
  CHECK(better->modules.at(0).file_path == right);
  CHECK(better->exe_path == right);
}

TEST_CASE("a file by build id in a debug directory, and a missing one") {
  const TemporaryDirectory directory;
  const std::string core = directory.write("core", core_with({}).build());
  const auto missing = open_core(core, {});
  CHECK(missing->modules.at(0).state == ModuleState::missing);
  CHECK(missing->exe_path == "/nowhere/prog");
  CHECK(says(missing->modules.at(0).remark, "No file was found for /nowhere/prog"));

  std::filesystem::create_directories(directory.path() + "/.build-id/41");
  const std::string file =
      directory.write(".build-id/41/414141.debug", tiny_program(ET_DYN, 0, "AAAA"));
  FileSearch search;
  search.debug_directories = {directory.path()};
  CHECK(open_core(core, search)->modules.at(0).file_path == file);
}

TEST_CASE("a sysroot stands before absolute paths") {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path() + "/nowhere");
  const std::string file = directory.write("nowhere/prog", tiny_program(ET_DYN, 0, "AAAA"));
  FileSearch search;
  search.sysroot = directory.path();
  const auto image = open_core(directory.write("core", core_with({}).build()), search);
  CHECK(image->modules.at(0).file_path == file);
}

TEST_CASE("a page of a file that is mapped once more is no other loading of it") {
  const TemporaryDirectory directory;
  Parts parts;
  parts.code_twice = true;
  FileSearch search;
  search.exe = directory.write("prog", tiny_program(ET_DYN, 0, "AAAA"));
  const auto image = open_core(directory.write("core", core_with(parts).build()), search);
  CHECK(image->warnings.empty());
  REQUIRE(image->modules.size() == 1);
  CHECK(image->modules[0].bias == kBias);
  CHECK(image->module_at(kApart) == nullptr);
  CHECK(image->is_code(kApart));
}

TEST_CASE("without headers in memory, the layout tells the file and its bias") {
  const TemporaryDirectory directory;
  Parts parts;
  parts.headers = false;
  const std::string core = directory.write("core", core_with(parts).build());
  FileSearch search;
  search.exe = directory.write("prog", tiny_program(ET_DYN, 0, "AAAA"));
  const auto image = open_core(core, search);
  CHECK(image->modules.at(0).state == ModuleState::found);
  CHECK(image->modules.at(0).bias == kBias);
  CHECK(says(image->modules.at(0).remark, "no build id to compare"));

  Bytes longer = tiny_program(ET_DYN, 0, "AAAA");
  put(longer, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_filesz),
      std::uint64_t{0x1800});
  search.exe = directory.write("prog", longer);
  CHECK(open_core(core, search)->modules.at(0).state == ModuleState::mismatch);
  search.exe.clear();
  CHECK(open_core(core, search)->modules.at(0).bias == kBias);
}

TEST_CASE("without NT_FILE, the auxiliary vector leads to the program") {
  const TemporaryDirectory directory;
  for (const bool headers : {true, false}) {
    Parts parts;
    parts.file_note = false;
    parts.headers = headers;
    const std::string core = directory.write("core", core_with(parts).build());
    FileSearch search;
    search.exe = directory.write("prog", tiny_program(ET_DYN, 0, "AAAA"));
    const auto image = open_core(core, search);
    REQUIRE(image->modules.size() == 1);
    CHECK(image->modules[0].is_executable);
    CHECK(image->modules[0].bias == kBias);
    CHECK(image->modules[0].state == ModuleState::found);
    CHECK(image->memory->read_unsigned(kBias + 0x1000, 1, Endian::little) == 0x90);
  }
}

TEST_CASE("an image that was dumped whole stands in for a missing file") {
  const TemporaryDirectory directory;
  Parts parts;
  parts.code = true;
  const auto image = open_core(directory.write("core", core_with(parts).build()), {});
  const Module& module = image->modules.at(0);
  CHECK(module.state == ModuleState::in_memory);
  REQUIRE(module.file != nullptr);
  CHECK(module.file->build_id() == "41414141");
  CHECK(module.file->at(0x1000).read<std::uint8_t>(0) == 0x90);
  CHECK(says(module.remark, "No file was found"));
}

// SBCL maps its image of compiled Lisp by itself.
TEST_CASE("a mapped file that is no ELF file is not looked for elsewhere") {
  const TemporaryDirectory directory;
  for (const bool there : {true, false}) {
    CAPTURE(there);
    Parts parts;
    parts.program_path = there ? directory.write("lisp.core", {std::byte{'L'}, std::byte{'I'}})
                               : "/nowhere/lisp.core";
    parts.headers = false;
    const auto image = open_core(directory.write("core", core_with(parts).build()), {});
    const Module& module = image->modules.at(0);
    CHECK(module.state == ModuleState::missing);
    CHECK(says(module.remark, parts.program_path + " is no ELF file") == there);
    CHECK(says(module.remark, "No file was found") != there);
  }
}

TEST_CASE("what is not a core says what it is") {
  const TemporaryDirectory directory;
  CHECK(says(message_of("/nowhere/core"), "cannot be opened"));
  CHECK(says(message_of(directory.write("program", tiny_program(ET_EXEC, 0x400000, "AAAA"))),
             "is not a core file: it is an executable"));
  CHECK(says(message_of(directory.write("library", tiny_program(ET_DYN, 0, "AAAA"))),
             "is not a core file: it is a shared library"));
  const Bytes zstd = {std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f}, std::byte{0xfd}};
  CHECK(says(message_of(directory.write("core.zst", zstd)), "zstd -d"));
  CHECK(says(message_of(directory.write("empty", {})), "is empty"));
  Bytes foreign = core_with({}).build();
  put(foreign, offsetof(Elf64_Ehdr, e_machine), std::uint16_t{EM_S390});
  const std::string message = message_of(directory.write("s390", foreign));
  CHECK(says(message, "IBM Z"));
  CHECK(says(message, "x86_64"));
  CHECK(
      says(message_of(directory.write("threadless", CoreBuilder(x86_64()).build())), "no thread"));
}

TEST_CASE("truncated cores open as far as they go") {
  const TemporaryDirectory directory;
  Parts parts;
  parts.code = true;
  const Bytes whole = core_with(parts).build();
  unsigned opened = 0;
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const std::string path = directory.write("core", part_of(whole, 0, size));
    try {
      const auto image = open_core(path, {});
      ++opened;
      REQUIRE_FALSE(image->warnings.empty());
      CHECK(says(image->warnings[0], "truncated: it has " + std::to_string(size) + " of " +
                                         std::to_string(whole.size())));
      CHECK(says(image->warnings[0], path));
    } catch (const Error& error) {
      CHECK_FALSE(error.reason().empty());
      CHECK_FALSE(says(error.what(), ".)"));  // no sentence inside another
    }
  }
  CHECK(opened > 100);
}

TEST_CASE("damaged cores never crash the reader") {
  const TemporaryDirectory directory;
  Parts parts;
  parts.code = true;
  const Bytes whole = core_with(parts).build();
  std::mt19937_64 random(11);
  for (int round = 0; round < 400; ++round) {
    Bytes damaged = whole;
    for (int change = 0; change < 8; ++change) {
      damaged[random() % 1800] = static_cast<std::byte>(random());  // headers, notes, first page
    }
    try {
      const auto image = open_core(directory.write("core", damaged), {});
      for (const Thread& thread : image->threads) {
        const auto pc = thread.registers.get(image->arch->registers.return_address).value_or(0);
        static_cast<void>(image->is_code(pc));
      }
      Address end = 0;
      for (const Mapping& mapping : image->mappings) {
        CHECK(mapping.range.begin >= end);
        end = mapping.range.end;
      }
      end = 0;
      for (const Module& module : image->modules) {
        CHECK(module.range.begin >= end);
        end = module.range.end;
      }
    } catch (const Error&) {
      // as good
    }
  }
}
