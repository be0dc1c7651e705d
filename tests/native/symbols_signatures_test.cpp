// Signatures by hand: what of a section is fixed, the file's form, and proofs on a few bytes.
#include <doctest/doctest.h>

#include <elf.h>

#include "arch/x86/x86_64_facts.h"
#include "base/error.h"
#include "base_bytes.h"
#include "symbols/signatures/signature_file.h"
#include "symbols/signatures/signature_index.h"

namespace whocall::test {
namespace {

// One section: push %rbx; call other; pop %rbx; ret.
SignatureSet small_set() {
  SignatureSet set;
  set.arch = &kX86_64;
  const Bytes code{0x53, 0xe8, 0, 0, 0, 0, 0x5b, 0xc3};
  set.bytes = code.get();
  set.strings = std::string("\0lib.a\0one.o\0first\0other\0", 25);
  set.members.push_back({1, 7});
  SignatureSection section;
  section.size = 8;
  section.functions = 1;
  section.relocations = 1;
  set.sections.push_back(section);
  set.functions.push_back({0, 8, 13, 13});
  SignatureSymbol first;
  first.name = 13;
  first.section = 0;
  SignatureSymbol other;
  other.name = 19;
  set.symbols = {first, other};
  set.relocations.push_back({2, R_X86_64_PLT32, 1, -4});
  return set;
}

TEST_CASE("signatures: what relocations cover is not fixed") {
  const SignatureSet set = small_set();
  const auto fixed = fixed_bytes(set, set.sections[0]);
  REQUIRE(fixed.size() == 2);
  CHECK(fixed[0].begin == 0);
  CHECK(fixed[0].end == 2);
  CHECK(fixed[1].begin == 6);
  CHECK(fixed[1].end == 8);
}

TEST_CASE("signatures: nothing of a section with an unknown relocation is fixed") {
  SignatureSet set = small_set();
  set.relocations[0].type = 255;
  CHECK(fixed_bytes(set, set.sections[0]).empty());
}

TEST_CASE("signatures: a file says what the set says") {
  const SignatureSet set = small_set();
  const std::vector<std::byte> file = encode_signatures(set);
  const SignatureSet read = decode_signatures(ByteView(file, Endian::little), "file");
  CHECK(read.arch == &kX86_64);
  CHECK(read.text(read.members[0].name) == "one.o");
  CHECK(read.text(read.functions[0].name) == "first");
  CHECK(read.relocations[0].addend == -4);
  CHECK(read.symbols[1].section == kNoSignature);
  CHECK(read.bytes == set.bytes);
  CHECK(encode_signatures(read) == file);
}

TEST_CASE("signatures: every index outside its table is refused") {
  const auto is_refused = [](const SignatureSet& set) {
    const std::vector<std::byte> file = encode_signatures(set);
    try {
      decode_signatures(ByteView(file, Endian::little), "file");
    } catch (const Error& error) {
      return error.reason() == "is a damaged signature file";
    }
    return false;
  };
  CHECK_FALSE(is_refused(small_set()));
  const auto check = [&](auto change) {
    SignatureSet set = small_set();
    change(set);
    CHECK(is_refused(set));
  };
  check([](SignatureSet& set) { set.members[0].name = 25; });
  check([](SignatureSet& set) { set.sections[0].member = 1; });
  check([](SignatureSet& set) { set.sections[0].size = 9; });
  check([](SignatureSet& set) { set.sections[0].code = 1; });
  check([](SignatureSet& set) { set.sections[0].alignment = 3; });
  check([](SignatureSet& set) { set.sections[0].anchor = 1; });
  check([](SignatureSet& set) { set.sections[0].functions = 2; });
  check([](SignatureSet& set) { set.sections[0].first_relocation = kNoSignature; });
  check([](SignatureSet& set) { set.functions[0].size = 9; });
  check([](SignatureSet& set) { set.symbols[0].section = 1; });
  check([](SignatureSet& set) { set.symbols[0].offset = 9; });
  check([](SignatureSet& set) { set.symbols[1].expected_size = 9; });
  check([](SignatureSet& set) { set.relocations[0].symbol = 2; });
  check([](SignatureSet& set) { set.relocations[0].offset = 8; });
  check([](SignatureSet& set) { set.strings.back() = 'x'; });
}

// A linked file of two functions, of which the first calls the second and names a text.
SignatureSet set_of_builds() {
  SignatureSet set = small_set();
  set.builds.push_back(
      {.file = 13, .build_id = 0, .soname = 0, .first_function = 0, .functions = 2});
  BuildFunction first;
  first.name = 13;
  first.code = 0x123456789abcdef0U;
  first.sketch.fill(7);
  first.references = 2;
  BuildFunction second = first;
  second.name = 19;
  second.first_reference = 2;
  second.references = 0;
  set.build_functions = {first, second};
  set.build_references = {{LinkedKind::function, 1}, {LinkedKind::text, ~std::uint64_t{0}}};
  return set;
}

TEST_CASE("signatures: a file says what the set says of linked files") {
  const SignatureSet set = set_of_builds();
  const std::vector<std::byte> file = encode_signatures(set);
  const SignatureSet read = decode_signatures(ByteView(file, Endian::little), "file");
  REQUIRE(read.builds.size() == 1);
  CHECK(read.builds[0].functions == 2);
  CHECK(read.text(read.build_functions[1].name) == "other");
  CHECK(read.build_functions[0].code == set.build_functions[0].code);
  CHECK(read.build_functions[0].sketch == set.build_functions[0].sketch);
  CHECK(read.build_references[1].value == ~std::uint64_t{0});
  CHECK(encode_signatures(read) == file);
}

TEST_CASE("signatures: libraries alone are written as ever, for those who know no builds") {
  constexpr std::size_t kVersionAt = 19;
  CHECK(encode_signatures(small_set())[kVersionAt] == std::byte{1});
  CHECK(encode_signatures(set_of_builds())[kVersionAt] == std::byte{2});
}

TEST_CASE("signatures: every index of a build outside its table is refused") {
  const auto check = [&](auto change) {
    SignatureSet set = set_of_builds();
    change(set);
    const std::vector<std::byte> file = encode_signatures(set);
    CHECK_THROWS_AS(decode_signatures(ByteView(file, Endian::little), "file"), Error);
  };
  check([](SignatureSet& set) { set.builds[0].file = 25; });
  check([](SignatureSet& set) { set.builds[0].build_id = 25; });
  check([](SignatureSet& set) { set.builds[0].soname = kNoSignature; });
  check([](SignatureSet& set) { set.builds[0].first_function = 1; });
  check([](SignatureSet& set) { set.builds[0].functions = 1; });
  check([](SignatureSet& set) { set.builds[0].functions = 3; });
  check([](SignatureSet& set) { set.build_functions[0].name = 25; });
  check([](SignatureSet& set) { set.build_functions[0].references = 1; });
  check([](SignatureSet& set) { set.build_functions[1].first_reference = 0; });
  check([](SignatureSet& set) { set.build_functions[1].references = 1; });
  check([](SignatureSet& set) { set.build_references[0].value = 2; });
  check([](SignatureSet& set) { set.build_references[0].kind = LinkedKind(kLinkedKinds); });
}

TEST_CASE("signatures: an index knows who defines a name, and how much a section says") {
  const SignatureIndex index(small_set());
  REQUIRE(index.definitions(13).size() == 1);
  CHECK(index.definitions(13)[0] == 0);
  CHECK(index.definitions(19).empty());
  CHECK(index.weight(0) == 4);
  CHECK(index.sections_of(0).size() == 1);
}

}  // namespace
}  // namespace whocall::test
