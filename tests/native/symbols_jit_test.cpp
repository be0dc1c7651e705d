// Perf maps and jitdumps: what was put somewhere last is there, whatever the bytes are.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "symbols/jit/jitdump.h"
#include "symbols/jit/perf_map.h"

using namespace whocall;

namespace {

class Dump {
 public:
  Dump() { u32(0x4a695444).u32(1).u32(40).u32(62).u32(0).u32(77).u64(1).u64(0); }

  Dump& u32(std::uint32_t value) { return put(value, 4); }
  Dump& u64(std::uint64_t value) { return put(value, 8); }
  Dump& text(std::string_view value) {
    for (const char c : value) {
      put(static_cast<unsigned char>(c), 1);
    }
    return put(0, 1);
  }
  Dump& load(Address address, std::uint64_t size, std::uint64_t index, std::string_view name) {
    record(0, 40 + name.size() + 1 + size);
    u32(77).u32(77).u64(address).u64(address).u64(size).u64(index).text(name);
    bytes_.resize(bytes_.size() + size, std::byte{0x90});
    return *this;
  }
  Dump& move(Address from, Address to, std::uint64_t size, std::uint64_t index) {
    return record(1, 48).u32(77).u32(77).u64(to).u64(from).u64(to).u64(size).u64(index);
  }
  Dump& line(Address code, Address address, std::uint32_t line) {
    return record(2, 34).u64(code).u64(1).u64(address).u32(line).u32(0).text("f");
  }
  Dump& close() { return record(3, 0); }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  Dump& record(std::uint32_t id, std::size_t size) {
    return u32(id).u32(static_cast<std::uint32_t>(16 + size)).u64(1);
  }
  Dump& put(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
    return *this;
  }
  std::vector<std::byte> bytes_;
};

bool always(Address /*address*/, std::span<const std::byte> /*code*/) { return true; }

std::string name_at(const JitFunctions& functions, Address address) {
  const JitFunction* found = functions.at(address);
  return found == nullptr ? "" : found->name;
}

JitFunctions read(const Dump& dump) {
  JitFunctions functions;
  Budget budget("log", 0);
  read_jitdump(dump.bytes(), always, functions, budget);
  return functions;
}

}  // namespace

TEST_CASE("jit: a later function takes the place of those that it overlaps") {
  JitFunctions functions;
  Budget budget("log", 0);
  read_perf_map(
      "1000 20 a\n1020 20 b c(d)\n1010 18 over\nrubbish\n2000\n3000 0 empty\n0x4000 0x10 x",
      functions, budget);
  CHECK(name_at(functions, 0x1000).empty());
  CHECK(name_at(functions, 0x1010) == "over");
  CHECK(name_at(functions, 0x1027) == "over");
  CHECK(name_at(functions, 0x1028).empty());
  CHECK(name_at(functions, 0x3000).empty());
  CHECK(name_at(functions, 0x400f) == "x");
  CHECK(functions.at(0x4000)->source == NameSource::perf_map);
}

TEST_CASE("perf map: sizes that lead around the address space are none") {
  JitFunctions functions;
  Budget budget("log", 0);
  read_perf_map("ffffffffffffff00 1000 a\nfffffffffffffffffffff 10 b\n10 ffffffffffffffff c\r\n",
                functions, budget);
  CHECK(functions.empty());
}

TEST_CASE("jitdump: loads, moves and the end") {
  const auto functions = read(Dump()
                                  .load(0x1000, 0x20, 1, "first")
                                  .load(0x1000, 0x10, 2, "second")
                                  .load(0x2000, 0x10, 3, "moved")
                                  .move(0x2000, 0x3000, 0x10, 3)
                                  .move(0x2000, 0x5000, 0x10, 99)
                                  .close()
                                  .load(0x4000, 0x10, 4, "behind the end"));
  CHECK(name_at(functions, 0x100f) == "second");
  CHECK(name_at(functions, 0x1010).empty());
  CHECK(name_at(functions, 0x2000).empty());
  CHECK(name_at(functions, 0x3000) == "moved");
  CHECK(name_at(functions, 0x4000).empty());
  CHECK(name_at(functions, 0x5000).empty());
}

TEST_CASE("jitdump: code that memory does not hold has no name") {
  JitFunctions functions;
  Budget budget("log", 0);
  const auto at_low = [](Address address, std::span<const std::byte> code) {
    CHECK(code.size() == 0x10);
    return address < 0x2000;
  };
  read_jitdump(Dump().load(0x1000, 0x10, 1, "a").load(0x2000, 0x10, 2, "b").bytes(), at_low,
               functions, budget);
  CHECK(name_at(functions, 0x1000) == "a");
  CHECK(name_at(functions, 0x2000).empty());
}

TEST_CASE("jitdump: lines, and those that V8 moves by an ELF header") {
  const auto plain = read(Dump().line(0x1000, 0x1000, 7).load(0x1000, 0x80, 1, "a"));
  REQUIRE(plain.at(0x1000)->lines.size() == 1);
  CHECK(plain.at(0x1000)->lines[0].address == 0x1000);
  const auto moved = read(Dump()
                              .line(0x1000, 0x1048, 7)
                              .load(0x1000, 0x80, 1, "a")
                              .line(0x2000, 0x2085, 8)
                              .load(0x2000, 0x80, 2, "b"));
  CHECK(moved.at(0x1000)->lines[0].address == 0x1008);
  CHECK(moved.at(0x2000)->lines[0].address == 0x2045);
}

TEST_CASE("jitdump: the other byte order") {
  auto bytes = Dump().bytes();
  std::reverse(bytes.begin(), bytes.begin() + 4);
  CHECK_FALSE(read_jitdump_header(bytes));  // its version is then another
  bytes.resize(39);
  CHECK_FALSE(read_jitdump_header({}));
}

TEST_CASE("jit: damaged logs end, and their functions do not overlap") {
  const auto whole = Dump()
                         .line(0x1000, 0x1000, 7)
                         .load(0x1000, 0x20, 1, "first")
                         .load(0x2000, 0x10, 3, "moved")
                         .move(0x2000, 0x3000, 0x10, 3)
                         .load(0x1008, 0x10, 5, "last")
                         .bytes();
  const std::string_view text = "1000 20 a\n1020 20 b c(d)\n1010 18 over\n2000 10 x\n";
  std::mt19937 random(1);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (int round = 0; round < 4000; ++round) {
    auto bytes = whole;
    std::string map(text);
    for (std::size_t i = 0; i <= below(6); ++i) {
      bytes[below(bytes.size())] = static_cast<std::byte>(below(2) != 0 ? 0xff : below(256));
      map[below(map.size())] = static_cast<char>(below(256));
    }
    bytes.resize(below(4) == 0 ? below(bytes.size()) : bytes.size());
    JitFunctions functions;
    Budget budget("log", 0);
    read_jitdump(bytes, always, functions, budget);
    read_perf_map(map, functions, budget);
    Address end = 0;
    for (const auto& [start, function] : functions.all()) {
      CHECK(start >= end);
      CHECK_FALSE(function.range.empty());
      end = function.range.end;
    }
  }
}

TEST_CASE("jit: Ctrl-C is heard while a long perf map is read") {
  std::string text;
  for (Address at = 0x1000; text.size() < 4 * kManyBytes; at += 16) {
    text += std::to_string(at) + " 10 function\n";
  }
  static int checks;
  checks = 0;
  set_interrupt_check([] { ++checks; });
  JitFunctions functions;
  Budget budget("log", 0);
  read_perf_map(text, functions, budget);
  set_interrupt_check(nullptr);
  CHECK(checks == 4);
}
