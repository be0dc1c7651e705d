// The note that whocall writes into cores that it makes of other dumps.
#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "process/core/own_notes.h"

namespace whocall {
namespace {

void append_word(std::vector<std::byte>& note, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    note.push_back(std::byte(value >> shift & 0xffU));
  }
}

// Two modules: the program with a build id of 3 bytes, and a library without one.
std::vector<std::byte> two_modules() {
  std::vector<std::byte> note;
  for (const std::uint64_t word : {1ULL, 2ULL, 0x1000ULL, 0x3000ULL, 1ULL, 3ULL, 5ULL, 0x8000ULL,
                                   0x9000ULL, 0ULL, 0ULL, 4ULL}) {
    append_word(note, word);
  }
  for (const char letter : std::string("\xab\x01\xff/proglibc")) {
    note.push_back(static_cast<std::byte>(letter));
  }
  return note;
}

TEST_CASE("the list of modules of a converted dump") {
  const auto note = two_modules();
  const auto modules = parse_module_note(ByteView(note, Endian::little));
  REQUIRE(modules.size() == 2);
  CHECK(modules[0].range == AddressRange{0x1000, 0x3000});
  CHECK(modules[0].is_executable);
  CHECK(modules[0].build_id == "ab01ff");
  CHECK(modules[0].path == "/prog");
  CHECK_FALSE(modules[1].is_executable);
  CHECK(modules[1].build_id.empty());
  CHECK(modules[1].path == "libc");
}

TEST_CASE("a list of modules that is cut off, or whose counts lie") {
  const auto whole = two_modules();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<long>(size));
    CHECK(parse_module_note(ByteView(part, Endian::little)).size() < 2);
  }
  for (const std::size_t word : {0U, 1U, 5U, 6U}) {
    auto note = whole;
    const std::uint64_t value = ~std::uint64_t{0};
    std::memcpy(note.data() + word * 8, &value, sizeof value);
    CHECK(parse_module_note(ByteView(note, Endian::little)).empty());
  }
}

TEST_CASE("of a signal only what the dump tells") {
  std::vector<std::byte> note;
  for (const std::uint64_t word : {2ULL, 7ULL, 0xabcULL, 9ULL}) {
    append_word(note, word);
  }
  const auto told = parse_signal_note(ByteView(note, Endian::little));
  REQUIRE(told.has_value());
  CHECK_FALSE(told->code.has_value());
  CHECK(told->address == std::optional<Address>(0xabc));
  CHECK_FALSE(told->pid.has_value());
  note.front() = std::byte{5};
  const auto others = parse_signal_note(ByteView(note, Endian::little));
  REQUIRE(others.has_value());
  CHECK(others->code == std::optional<int>(7));
  CHECK_FALSE(others->address.has_value());
  CHECK(others->pid == std::optional<std::uint32_t>(9));
  note.pop_back();
  CHECK_FALSE(parse_signal_note(ByteView(note, Endian::little)).has_value());
}

TEST_CASE("names of threads, and a list of them that is cut off") {
  std::vector<std::byte> note;
  for (const auto& [lwp, name] : {std::pair{7ULL, "worker"}, std::pair{8ULL, "io"}}) {
    append_word(note, lwp);
    for (const char letter : std::string(name) + '\0') {
      note.push_back(static_cast<std::byte>(letter));
    }
  }
  const auto names = parse_name_note(ByteView(note, Endian::little));
  REQUIRE(names.size() == 2);
  CHECK(names[0].lwp == 7);
  CHECK(names[0].name == "worker");
  CHECK(names[1].name == "io");
  note.pop_back();
  CHECK(parse_name_note(ByteView(note, Endian::little)).size() == 1);
}

TEST_CASE("segments of a larger core are told and read again") {
  std::vector<ElfSegment> segments(2);
  segments[0] = {.type = PT_LOAD,
                 .flags = PF_R | PF_X,
                 .address = 0x1000,
                 .file_size = 9,
                 .memory_size = 0x2000};
  segments[1] = {.type = PT_LOAD, .flags = PF_R | PF_W, .address = 0x4000, .memory_size = 0x1000};
  const auto note = segment_note(segments, Endian::little);
  const auto told = parse_segment_note(ByteView(note, Endian::little));
  REQUIRE(told.size() == 2);
  CHECK(told[0].address == 0x1000);
  CHECK(told[0].memory_size == 0x2000);
  CHECK(told[0].flags == (PF_R | PF_X));
  CHECK(told[0].file_size != 0);
  CHECK(told[1].file_size == 0);
}

TEST_CASE("a segment that ends before it begins is empty") {
  std::vector<std::byte> note;
  for (const std::uint64_t word : {1ULL, 0x3000ULL, 0x1000ULL, 6ULL, 7ULL}) {
    append_word(note, word);
  }
  const auto told = parse_segment_note(ByteView(note, Endian::little));
  REQUIRE(told.size() == 1);
  CHECK(told[0].memory_size == 0);
  note.front() = std::byte{2};  // a version that is not known
  CHECK(parse_segment_note(ByteView(note, Endian::little)).empty());
}

TEST_CASE("blank ranges are told and read again, and none wraps") {
  const std::vector<AddressRange> ranges = {{0x7fff0010, 0x7fff0018}, {0x7fff0100, 0x7fff0180}};
  auto note = blank_note(ranges, Endian::little);
  CHECK(parse_blank_note(ByteView(note, Endian::little)) == ranges);
  const std::vector<AddressRange> last = {{~Address{0} - 8, ~Address{0}}};
  note = blank_note(last, Endian::little);
  CHECK(parse_blank_note(ByteView(note, Endian::little)) == last);
  for (int i = 0; i < 2; ++i) {
    note.push_back(std::byte{0x10});  // behind the end of the address space
  }
  CHECK(parse_blank_note(ByteView(note, Endian::little)) == last);
}

}  // namespace
}  // namespace whocall
