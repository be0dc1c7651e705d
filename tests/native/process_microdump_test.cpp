// Microdumps: a crash in the lines of a log.
#include <doctest/doctest.h>

#include "base/error.h"
#include "base/hex.h"
#include "process/core/core_notes.h"
#include "process/minidump/microdump.h"
#include "process_minidumps.h"

namespace whocall {
namespace {

using namespace whocall::testing;

std::string told_lines(const std::string& prefix, const std::string& processor = "x86_64") {
  std::string text;
  for (const std::string& line :
       {std::string("-----BEGIN BREAKPAD MICRODUMP-----"), "O A " + processor + " 04 x86_64 6.1",
        std::string("R 0000000B SIGSEGV 0000000000000010"),
        std::string("S 0 7FFF0010 7FFF0000 00001000"), "S 7FFF0000 " + std::string(64, '4'),
        "C " + hex_digits(context_of_amd64(0x401136, 0x7fff0000)),
        std::string("M 400000 0 2000 0123456789ABCDEF0123456789ABCDEF0 program of mine"),
        std::string("-----END BREAKPAD MICRODUMP-----")}) {
    text += prefix + line + "\r\n";
  }
  return text;
}

Microdump read_log(const std::string& text) {
  Budget budget("log", text.size());
  return read_microdump(text, "log", budget);
}

TEST_CASE("a microdump in a log, and as it was written") {
  for (const std::string prefix : {"01-25 09:57:54.139 F/google-breakpad(  234): ",
                                   "01-25 09:57:54.139   234   240 F google-breakpad: ", ""}) {
    CAPTURE(prefix);
    const auto [dump, memory] = read_log("something else: S 0\n" + told_lines(prefix));
    CHECK(dump.system == "Android");
    CHECK(dump.pid == (prefix.empty() ? 1U : 234U));
    REQUIRE(dump.modules.size() == 1);
    CHECK(dump.modules[0].path == "program of mine");
    CHECK(dump.modules[0].build_id == "67452301ab89efcd0123456789abcdef");
    REQUIRE(dump.memory.size() == 1);
    CHECK(dump.memory[0].address == 0x7fff0000);
    CHECK(memory == std::vector<std::byte>(32, std::byte{0x44}));
    REQUIRE(dump.signal.has_value());
    CHECK(dump.signal->address == std::optional<Address>(0x10));
    const auto registers =
        decode_registers(ByteView(dump.threads.at(0).registers, Endian::little), *dump.arch);
    CHECK(registers.get(dump.arch->registers.pc) == std::optional<std::uint64_t>(0x401136));
  }
}

TEST_CASE("a log that is cut anywhere") {
  const std::string whole = told_lines("F/google-breakpad(7): ") + told_lines("");
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    try {
      (void)read_log(whole.substr(0, size));
    } catch (const Error& error) {
      CHECK(std::string_view(error.what()).starts_with("log: "));
    }
  }
  const Microdump found = read_log(whole);
  REQUIRE(found.dump.remarks.size() == 1);
  CHECK(found.dump.remarks[0] == "it holds 1 more, which are not read; the first is");
}

TEST_CASE("a microdump of another processor") {
  CHECK_THROWS_WITH_AS((void)read_log(told_lines("", "mips64")),
                       doctest::Contains("a processor that is not supported (mips64)"), Error);
}

}  // namespace
}  // namespace whocall
