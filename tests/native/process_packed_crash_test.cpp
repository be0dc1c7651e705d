// Crashes as they come: what kind they are, reports of apport, packed several times.
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/regular_file.h"
#include "packing_packers.h"
#include "process/input/apport_report.h"
#include "process/input/input_kind.h"
#include "process/input/packed_crash.h"
#include "temporary_file.h"

namespace whocall {
namespace {

using namespace whocall::testing;
using namespace std::string_literals;

std::string elf_head_of(unsigned type, bool is_big = false) {
  std::string head = ELFMAG + "\2"s + (is_big ? "\2" : "\1") + "\1"s;
  head.resize(EI_NIDENT, '\0');
  head += static_cast<char>(is_big ? type >> 8U : type & 0xffU);
  head += static_cast<char>(is_big ? type & 0xffU : type >> 8U);
  return head;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string made;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    unsigned group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8U | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      made += i <= count ? kDigits[(group >> (18 - 6 * i)) & 63U] : '=';
    }
  }
  return made;
}

// A line each for so many bytes.
std::string report_of(std::string_view packed, std::size_t line) {
  std::string made =
      "ProblemType: Crash\nSignal:  11 \nMaps:\n 1000-2000\n\t3000\nCoreDump: base64\n";
  for (std::size_t at = 0; at < packed.size(); at += line) {
    made += " " + base64(packed.substr(at, line)) + "\n";
  }
  return made;
}

struct Received {
  std::string kind;
  std::string contents;
  std::string damage;
};

Received received(const std::string& input) {
  const TemporaryFile file(input);
  const TemporaryFile made("");
  const Descriptor in(::open(file.path().c_str(), O_RDONLY));
  const Descriptor out(::open(made.path().c_str(), O_RDWR));
  PackedCrash crash(in.get(), "x");
  std::string contents(crash.write({out.get(), "/tmp"}), '\0');
  CHECK(::pread(out.get(), contents.data(), contents.size(), 0) ==
        static_cast<ssize_t>(contents.size()));
  return {std::string(crash.kind()), std::move(contents), crash.damage()};
}

std::string kind_of_text(const std::string& text) {
  return std::string(input_kind(std::as_bytes(std::span(text))));
}

TEST_CASE("input kinds") {
  CHECK(kind_of_text(elf_head_of(ET_CORE)) == "core");
  CHECK(kind_of_text(elf_head_of(ET_CORE, true)) == "core");
  CHECK(kind_of_text(elf_head_of(ET_DYN)) == "elf");
  CHECK(kind_of_text(elf_head_of(ET_CORE).substr(0, 17)) == "elf");
  CHECK(kind_of_text(ELFMAG) == "elf");
  CHECK(kind_of_text("MDMP") == "minidump");
  CHECK(kind_of_text("ProblemType: Crash") == "apport");
  CHECK(kind_of_text("01-25 F/google-breakpad(2): x") == "microdump");
  CHECK(kind_of_text("BZh91AY") == "bzip2");
  CHECK(kind_of_text("").empty());
  CHECK(kind_of_text("MDM").empty());
}

TEST_CASE("crash report: every form of lines, in rooms of any size") {
  const std::string packed = packed_by(Packing::gzip, some_contents(5000));
  for (const std::size_t line : {1U, 2U, 3U, 57U, 1000U, 1U << 20U}) {
    for (const std::size_t room : {1U, 2U, 7U, 100'000U}) {
      TextSource source(report_of(packed, line) + "Tags: x\n more\n", 11);
      ApportReport report(source, "x");
      CHECK(all_of(report, room) == packed);
      CHECK(report.damage().empty());
      CHECK(report.fields() ==
            std::vector<std::pair<std::string, std::string>>{
                {"ProblemType", "Crash"}, {"Signal", "11"}, {"Maps", "1000-2000\n3000"}});
    }
  }
}

TEST_CASE("crash report: a core that ends early or is none") {
  const std::string head = "ProblemType: Crash\nCoreDump: base64\n";
  struct {
    std::string lines;
    std::string contents;
    std::string damage;
  } const kCases[] = {
      {" QUJD", "ABC", ""},
      {" QUJD\r\n QUI=\r\n QQ==\r\n", "ABCABA", ""},
      {" QUJDQU", "ABCA", "it ends in the middle"},
      {" QUJDQ\n", "ABC", "a line of the core is not base64"},
      {" QUI\n", "AB", "a line of the core is not base64"},
      {" QUI=QUJD\n", "AB", "a line of the core is not base64"},
      {" QUI==\n", "AB", "a line of the core is not base64"},
      {" ====\n", "", "a line of the core is not base64"},
      {" Q===\n", "", "a line of the core is not base64"},
      {" QUJD!!!!\n", "ABC", "a line of the core is not base64"},
      {"\nQUJD\n", "", ""},
      {"", "", ""},
  };
  for (const auto& each : kCases) {
    CAPTURE(each.lines);
    for (const std::size_t room : {1U, 4096U}) {
      TextSource source(head + each.lines);
      ApportReport report(source, "x");
      CHECK(all_of(report, room) == each.contents);
      CHECK(report.damage() == each.damage);
    }
  }
  TextSource source(head + " QUJD", 4096, "gone");
  ApportReport report(source, "x");
  CHECK(all_of(report) == "ABC");
  CHECK(report.damage() == "gone");
}

TEST_CASE("crash report: fields without end are kept in part") {
  std::string text = "ProblemType: Crash\nLong: " + std::string(300'000, 'x') + "\nMany:\n";
  for (int i = 0; i < 100'000; ++i) {
    text += " line\n";
  }
  for (int i = 0; i < 1000; ++i) {
    text += std::to_string(i) + ": value\n";
  }
  TextSource source(text + "CoreDump: base64\n QUJD\n");
  ApportReport report(source, "x");
  CHECK(report.fields().size() == kMostFields);
  CHECK(report.fields()[1].second.size() <= kLongestField);
  CHECK(report.fields()[1].second.size() > kLongestField - 10);
  CHECK(report.fields()[2].second.size() == kLongestField);
  CHECK(all_of(report) == "ABC");
}

TEST_CASE("crash report: one without a core is told") {
  TextSource package("ProblemType: Package\nTitle: x\n");
  CHECK_THROWS_WITH_AS(ApportReport(package, "x"),
                       "x: holds no core dump: it is a report of type Package. Only reports of "
                       "crashed programs have one",
                       Error);
  TextSource nothing("ProblemType:\n");
  CHECK_THROWS_WITH_AS(ApportReport(nothing, "x"), doctest::Contains("of type unknown"), Error);
  TextSource damaged("ProblemType: Crash\n", 4096, "it is damaged");
  CHECK_THROWS_WITH_AS(ApportReport(damaged, "x"),
                       "x: cannot be unpacked: it is damaged. Copy it anew, or unpack it by hand",
                       Error);
}

TEST_CASE("packed crash: plain, packed, in a report, packed again") {
  const std::string core = elf_head_of(ET_CORE) + some_contents(100'000);
  CHECK(received(core).contents == core);
  for (const Packing packing : kPackings) {
    CAPTURE(name_of(packing));
    const Received made = received(packed_by(packing, core));
    CHECK(made.kind == "core");
    CHECK(made.contents == core);
    CHECK(made.damage.empty());
    const std::string report = report_of(packed_by(packing, core), 1000);
    CHECK(received(report).contents == core);
    CHECK(received(packed_by(Packing::xz, report)).contents == core);
  }
  CHECK(received(packed_by(Packing::gzip, "MDMP...")).kind == "minidump");
}

TEST_CASE("packed crash: the outer stream's damage is the inner one's, what is good is kept") {
  const std::string core = elf_head_of(ET_CORE) + some_contents(300'000);
  std::string outer = packed_by(Packing::lz4, packed_by(Packing::bzip2, core));
  const Received made = received(outer.substr(0, outer.size() - 5));
  CHECK(made.damage == "it ends in the middle");
  CHECK(core.starts_with(made.contents));
  CHECK(made.contents.size() > core.size() / 2);
}

TEST_CASE("packed crash: what is none is told") {
  const auto complaint = [](const std::string& input) {
    try {
      (void)received(input);
      return "none"s;
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK(complaint(packed_by(Packing::gzip, elf_head_of(ET_EXEC))) ==
        "x: holds no core: what is in it is an executable. Name a core, a minidump or a crash "
        "report");
  CHECK(complaint(packed_by(Packing::gzip, elf_head_of(ET_REL))).find("an object file") !=
        std::string::npos);
  CHECK(complaint(packed_by(Packing::gzip, elf_head_of(9))).find("ELF file of another kind") !=
        std::string::npos);
  CHECK(complaint("text").find("in no format that is known here") != std::string::npos);
  CHECK(complaint("").starts_with("x: is empty. Copy it anew"));
  const std::string packed = packed_by(Packing::xz, some_contents(3000));
  CHECK(complaint(packed.substr(0, 100)) ==
        "x: cannot be unpacked: it ends in the middle. Copy it anew, or unpack it by hand");
  std::string nested = elf_head_of(ET_CORE);
  for (unsigned i = 0; i < kMostNested - 1; ++i) {
    nested = packed_by(Packing::zstd, nested);
  }
  CHECK(complaint(nested) == "none");
  CHECK(complaint(packed_by(Packing::zstd, nested)) ==
        "x: is packed more than 4 times. Unpack it by hand first");
}

}  // namespace
}  // namespace whocall
