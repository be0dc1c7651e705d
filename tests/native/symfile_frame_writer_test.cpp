// What the frame writer writes, our own reader of .debug_frame reads back.
#include "symfile/frame_writer.h"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <random>
#include <string>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x32_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "arch_invented.h"
#include "base/hex.h"
#include "base_bytes.h"
#include "unwind/rows/fde_rows.h"

using namespace whocall;
using test::Bytes;

namespace {

// Instruction sets with every pointer size and byte order; only what the writer asks is filled in.
std::vector<Architecture> kinds() {
  std::vector<Architecture> found = {kX86_64, kI386, kX32, test::kInvented};
  for (Architecture arch : {kX86_64, kI386}) {
    arch.abi.endian = Endian::big;
    found.push_back(arch);
    arch.code.alignment = 4;
    found.push_back(arch);
  }
  return found;
}

std::string hex_of(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "[";
  for (const std::byte byte : bytes.bytes()) {
    text += kDigits[std::to_integer<unsigned>(byte >> 4)];
    text += kDigits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return text + "]";
}

std::string text_of(const RegisterRule& rule) {
  return std::to_string(static_cast<int>(rule.kind)) + "/" + std::to_string(rule.source) + "/" +
         std::to_string(rule.offset) + hex_of(rule.expression);
}

// The rules in force at every address that has some, as text. What a row says by leaving it out,
// the table may say aloud: the stack pointer becomes the CFA, another register stays as it is.
using Table = std::map<Address, std::string>;

void add(Table& table, const UnwindRow& row, const Architecture& arch) {
  std::string text = std::to_string(static_cast<int>(row.cfa.kind)) + "/" +
                     std::to_string(row.cfa.base) + "/" + std::to_string(row.cfa.offset) +
                     hex_of(row.cfa.expression) + " of " + std::to_string(row.return_address);
  std::map<Register, std::string> rules;
  for (const NamedRule& named : row.rules) {
    rules[named.number] = text_of(named.rule);
  }
  std::erase_if(rules, [&](const auto& rule) {
    const bool is_sp = rule.first == arch.registers.sp;
    return rule.second ==
           text_of(is_sp ? RegisterRule::cfa_plus(arch.frame.sp_from_cfa()) : RegisterRule::same());
  });
  for (const auto& [number, rule] : rules) {
    text += " " + std::to_string(number) + "=" + rule;
  }
  for (Address at = row.range.begin; at < row.range.end; at += arch.code.alignment) {
    table[at] = text;
  }
}

Table meant(const std::vector<FunctionRows>& functions, const Architecture& arch) {
  Table table;
  for (const FunctionRows& function : functions) {
    for (const UnwindRow& row : function.rows) {
      if (!row.signal_frame && row.cfa.kind != CfaRule::Kind::undefined) {
        add(table, row, arch);
      }
    }
  }
  return table;
}

Table written(const std::vector<FunctionRows>& functions, const Architecture& arch) {
  const std::vector<std::byte> bytes = write_debug_frame(functions, arch);
  REQUIRE(bytes == write_debug_frame(functions, arch));
  const CallFrameInfo info(CallFrameInfo::Format::debug_frame,
                           {ByteView(bytes, arch.abi.endian), 0}, std::nullopt,
                           arch.abi.pointer_size);
  Table table;
  info.for_each([&](const Fde& fde) {
    for (const UnwindRow& row : compile(fde)) {
      add(table, row, arch);
    }
    for (const Address at : {fde.range.begin, fde.range.end - 1}) {
      const auto found = info.find(at);
      REQUIRE(found);
      CHECK(found->offset == fde.offset);
    }
  });
  return table;
}

// As text; empty where the tables are the same.
std::string first_difference(const Table& found, const Table& wanted) {
  for (const auto& [at, rules] : wanted) {
    const auto there = found.find(at);
    if (there == found.end() || there->second != rules) {
      return hex(at) + ": " + (there == found.end() ? "no rules" : there->second) + ", not " +
             rules;
    }
  }
  return found.size() == wanted.size() ? "" : "rules where none were";
}

class RandomRows {
 public:
  RandomRows(const Architecture& arch, unsigned seed) : arch_(arch), random_(seed) {}

  std::vector<FunctionRows> functions() {
    std::vector<FunctionRows> made;
    Address at = arch_.abi.pointer_size == 8 ? 0x7ffff0000000 : 0xf0000000;
    for (int i = 0; i < 6; ++i) {
      FunctionRows function{{at, at}, {}};
      for (std::uint64_t rows = below(30); rows > 0; --rows) {
        if (below(8) == 0) {
          at += length();  // a gap
        }
        UnwindRow row = made_row(function);
        row.range = {at, at + length()};
        at = row.range.end;
        function.rows.push_back(std::move(row));
      }
      function.range.end = at;
      made.push_back(std::move(function));
    }
    return made;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::uint64_t length() {
    const std::uint64_t longest = below(10) == 0 ? 300 : 20;
    return (1 + below(longest)) * arch_.code.alignment;
  }
  std::int64_t offset() {
    const auto offset = static_cast<std::int64_t>(below(1U << (1 + below(20))));
    return below(2) == 0 ? offset : -offset;
  }
  ByteView expression() {
    Bytes& bytes = expressions_.emplace_back();
    for (std::uint64_t size = below(200); size > 0; --size) {
      bytes.u8(below(256));
    }
    return ByteView(bytes.get(), arch_.abi.endian);
  }

  UnwindRow made_row(const FunctionRows& function) {
    if (!function.rows.empty() && below(4) == 0) {
      return function.rows[below(function.rows.size())];  // as an epilogue goes back
    }
    UnwindRow row;
    row.return_address = arch_.registers.return_address;
    row.signal_frame = below(30) == 0;
    row.cfa = CfaRule::at(static_cast<Register>(below(40)), offset());
    if (below(10) == 0) {
      row.cfa = {CfaRule::Kind::expression, 0, 0, expression()};
    } else if (below(20) == 0) {
      row.cfa = {};
    }
    for (Register number = 0; number < 70; number = static_cast<Register>(number + 1 + below(12))) {
      row.rules.push_back({number, rule()});
    }
    return row;
  }
  RegisterRule rule() {
    switch (below(7)) {
      case 0:
        return RegisterRule::undefined();
      case 1:
        return RegisterRule::same();
      case 2:
        return RegisterRule::stored_at_cfa(offset());
      case 3:
        return RegisterRule::cfa_plus(offset());
      case 4:
        return RegisterRule::from(static_cast<Register>(below(kRegisterLimit)));
      case 5:
        return RegisterRule::stored_at(expression());
      default:
        return RegisterRule::computed(expression());
    }
  }

  const Architecture& arch_;
  std::mt19937_64 random_;
  std::deque<Bytes> expressions_;
};

FunctionRows function_of(Address begin, std::vector<UnwindRow> rows) {
  Address end = begin;
  for (UnwindRow& row : rows) {
    row.range = {end, end + 16};
    row.return_address = kX86_64.registers.return_address;
    end = row.range.end;
  }
  return {{begin, end}, std::move(rows)};
}

}  // namespace

TEST_CASE("frame writer: random rows are read back the same at every address") {
  unsigned seed = 0;
  for (const Architecture& arch : kinds()) {
    for (int round = 0; round < 20; ++round) {
      CAPTURE(seed);
      RandomRows random(arch, seed++);
      const auto functions = random.functions();
      REQUIRE(first_difference(written(functions, arch), meant(functions, arch)) == "");
    }
  }
}

TEST_CASE("frame writer: a rule that ends is taken back") {
  UnwindRow saved;
  saved.cfa = CfaRule::at(7, 16);
  saved.rules = {{3, RegisterRule::stored_at_cfa(-16)}, {7, RegisterRule::cfa_plus(8)}};
  UnwindRow restored;
  restored.cfa = CfaRule::at(7, 8);
  const std::vector functions = {function_of(0x1000, {saved, restored})};
  CHECK(written(functions, kX86_64) == meant(functions, kX86_64));
  const Table table = written(functions, kX86_64);
  CHECK(table.at(0x1000).find(" 3=") != std::string::npos);
  CHECK(table.at(0x1010).find('=') == std::string::npos);
}

TEST_CASE("frame writer: rows that say the same take no room, wherever they stand") {
  UnwindRow row;
  row.cfa = CfaRule::at(7, 8);
  const auto once = write_debug_frame(std::vector{function_of(0x1000, {row})}, kX86_64);
  const auto often = write_debug_frame(std::vector{function_of(0x1000, {row, row, row})}, kX86_64);
  CHECK(often.size() == once.size());
}

TEST_CASE("frame writer: gaps, signal frames and unknown CFAs end an FDE") {
  UnwindRow row;
  row.cfa = CfaRule::at(7, 8);
  UnwindRow signal = row;
  signal.signal_frame = true;
  const std::vector functions = {function_of(0x1000, {row, signal, row, UnwindRow(), row}),
                                 function_of(0x9000, {signal}), function_of(0xa000, {})};
  const auto bytes = write_debug_frame(functions, kX86_64);
  const CallFrameInfo info(CallFrameInfo::Format::debug_frame, {ByteView(bytes, Endian::little), 0},
                           std::nullopt, 8);
  std::vector<AddressRange> ranges;
  info.for_each([&](const Fde& fde) { ranges.push_back(fde.range); });
  CHECK(ranges == std::vector<AddressRange>{{0x1000, 0x1010}, {0x1020, 0x1030}, {0x1040, 0x1050}});
}
