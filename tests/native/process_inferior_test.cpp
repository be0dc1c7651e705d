#include <doctest/doctest.h>

#include "base/error.h"
#include "process/live/inferior.h"
#include "process/process_image.h"
#include "process_core_builder.h"

using namespace whocall;
using namespace whocall::testing;

namespace {

constexpr Address kBias = 0x7f0000000000;

// A debugger that has tiny_program at kBias in memory, all of it or without its code.
InferiorSnapshot snapshot_of(const std::string& path, bool with_code) {
  InferiorSnapshot snapshot;
  snapshot.arch = "x86_64";
  snapshot.pid = 5;
  snapshot.threads.resize(1);
  snapshot.threads[0].number = 3;
  snapshot.files.push_back({path, kBias, true});
  snapshot.read_memory = [with_code, program = tiny_program(ET_DYN, 0, "AAAA")](
                             Address address, std::size_t size) -> Bytes {
    const Address offset = address - kBias;
    if (address < kBias || offset >= program.size() || (!with_code && offset >= 0x1000)) {
      return {};
    }
    return part_of(program, offset, std::min<std::size_t>(size, program.size() - offset));
  };
  return snapshot;
}

}  // namespace

TEST_CASE("gdb's files become modules") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("prog", tiny_program(ET_DYN, 0, "AAAA"));
  const auto image = open_inferior(snapshot_of("target:" + path, false), {});
  REQUIRE(image->modules.size() == 1);
  CHECK(image->modules[0].state == ModuleState::found);
  CHECK(image->modules[0].path == path);
  CHECK(image->modules[0].bias == kBias);
  CHECK(image->modules[0].is_executable);
  CHECK(image->threads.at(0).number == 3);
  CHECK(image->exe_path == path);
  // No mappings: the module's segments tell code, and the file has what memory lacks.
  CHECK(image->is_code(kBias + 0x1800));
  CHECK_FALSE(image->is_code(kBias + 0x10));
  CHECK_FALSE(image->is_code(kBias + 0x2000));
  CHECK_FALSE(image->is_code(0x1000));
  CHECK(image->memory->read_unsigned(kBias + 0x1000, 1, Endian::little) == 0x90);
}

TEST_CASE("gdb's file with another build id") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("prog", tiny_program(ET_DYN, 0, "BBBB"));
  const auto image = open_inferior(snapshot_of(path, false), {});
  REQUIRE(image->modules.size() == 1);
  CHECK(image->modules[0].state == ModuleState::mismatch);
  CHECK(image->modules[0].file == nullptr);
  CHECK(image->memory->run_at(kBias + 0x1000).empty());
  const auto rebuilt = open_inferior(snapshot_of(path, true), {});
  CHECK(rebuilt->modules.at(0).state == ModuleState::in_memory);
  CHECK(rebuilt->modules.at(0).build_id_on_disk == "42424242");
}

TEST_CASE("without modules and mappings, readable memory may be code") {
  InferiorSnapshot snapshot = snapshot_of("", true);
  snapshot.files.clear();
  const auto image = open_inferior(std::move(snapshot), {});
  CHECK(image->modules.empty());
  CHECK(image->is_code(kBias + 0x10));
  CHECK_FALSE(image->is_code(0x10));
}

TEST_CASE("mappings and files of one program become one module") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("prog", tiny_program(ET_DYN, 0, "AAAA"));
  InferiorSnapshot snapshot = snapshot_of(path, true);
  snapshot.mappings.push_back(
      {{kBias + 0x1000, kBias + 0x2000}, true, false, true, 0x1000, "/x/p"});
  snapshot.mappings.push_back({{kBias, kBias + 0x1000}, true, false, false, 0, "/x/p"});
  snapshot.mappings.push_back(
      {{kBias + 0x2000, kBias + 0x3000}, true, true, false, 0x2000, "/x/p"});
  const auto image = open_inferior(std::move(snapshot), {});
  REQUIRE(image->modules.size() == 1);
  CHECK(image->modules[0].file_path == path);
  CHECK(image->mappings[0].range.begin == kBias);
}

TEST_CASE("gdb tells which bits of a code pointer are its signature") {
  constexpr Address kSigned = 0x7fabcdef12345678;
  InferiorSnapshot snapshot = snapshot_of("", true);
  snapshot.arch = "aarch64";
  snapshot.signature_bits = 0x7fff8000000000;  // addresses of 39 bits
  const auto image = open_inferior(std::move(snapshot), {});
  CHECK(image->arch->code_address(kSigned) == (kSigned & ((Address{1} << 39) - 1)));
}

TEST_CASE("an architecture that nobody knows") {
  InferiorSnapshot snapshot;
  snapshot.arch = "vax";
  CHECK_THROWS_AS(open_inferior(std::move(snapshot), {}), Error);
}
