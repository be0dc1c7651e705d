// .debug_frame read by its index, held against .eh_frame of the same code read by its sorted table;
// and damaged sections.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "arch/aarch64/facts.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "object/call_frame_info.h"
#include "object/elf_file.h"
#include "rules/cfi_rule.h"
#include "rules/debug_frame.h"
#include "symfile/frame_writer.h"
#include "unwind/rows/fde_rows.h"

namespace whocall::test {
namespace {

class Indexed {
 public:
  Indexed(std::vector<std::byte> bytes, unsigned word_size) : bytes_(std::move(bytes)) {
    frames_.entries = {
        .bytes = {bytes_.data(), 0, bytes_.size()}, .word_size = word_size, .debug = true};
    index_.resize(rules::count_entries(frames_.entries));
    index_.resize(rules::make_index(frames_.entries, index_.data(), index_.size()));
    frames_.index = index_.data();
    frames_.count = index_.size();
  }
  Indexed(const Indexed&) = delete;
  Indexed& operator=(const Indexed&) = delete;
  ~Indexed() = default;

  [[nodiscard]] const std::vector<rules::IndexedDescription>& index() const { return index_; }
  [[nodiscard]] rules::FrameRule rule_at(Address address, const rules::FrameRegisters& of) const {
    rules::WholeDescription description;
    return rules::find_description(frames_, address, description)
               ? rules::rule_at(description, of, address)
               : rules::FrameRule{};
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<rules::IndexedDescription> index_;
  rules::DebugFrame frames_;
};

// The rows of a library's .eh_frame, written in an order that no index has.
std::vector<FunctionRows> shuffled_rows(const ElfFile& file) {
  std::vector<FunctionRows> functions;
  eh_frame_of(file)->for_each([&](const Fde& fde) {
    if (!fde.cie->signal_frame) {
      functions.push_back({fde.range, compile(fde)});
    }
  });
  std::ranges::shuffle(functions, std::mt19937(3));
  return functions;
}

struct Subject {
  std::string path;
  const Architecture* arch;
  rules::FrameRegisters registers;
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> kSubjects = {
      {"/lib/x86_64-linux-gnu/libc.so.6", &kX86_64, {.sp = 7, .fp = 6}},
      {"/lib32/libc.so.6", &kI386, {.sp = 4, .fp = 5}},
      {"/usr/aarch64-linux-gnu/lib/libc.so.6", &kAArch64, {.sp = 31, .fp = 29, .link = 30}}};
  return kSubjects;
}

}  // namespace

TEST_CASE("debug frame: every row of whole libraries is found by the index") {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.path);
    const auto file = ElfFile::open(subject.path);
    const std::vector<FunctionRows> functions = shuffled_rows(*file);
    const Indexed made(write_debug_frame(functions, *subject.arch), file->pointer_size());
    std::size_t asked = 0;
    for (const FunctionRows& function : functions) {
      for (const UnwindRow& row : function.rows) {
        const bool written = row.cfa.kind == CfaRule::Kind::register_offset && !row.signal_frame;
        const bool small =
            row.cfa.base == subject.registers.sp || row.cfa.base == subject.registers.fp;
        const RegisterRule* const ret = row.rule_for(subject.arch->registers.return_address);
        if (!written || !small || ret == nullptr || ret->kind != RegisterRule::Kind::at_cfa) {
          continue;
        }
        CAPTURE(row.range.begin);
        const rules::FrameRule rule = made.rule_at(row.range.begin, subject.registers);
        REQUIRE(rule.cfa == (row.cfa.base == subject.registers.sp
                                 ? rules::FrameRule::Cfa::from_sp
                                 : rules::FrameRule::Cfa::from_fp));
        CHECK(rule.cfa_offset == row.cfa.offset);
        CHECK(rule.return_slot == ret->offset);
        CHECK(made.rule_at(row.range.end - 1, subject.registers) == rule);
        ++asked;
      }
    }
    CHECK(asked > 5'000);
    CHECK(made.rule_at(1, subject.registers).cfa == rules::FrameRule::Cfa::none);
  }
}

TEST_CASE("debug frame: a damaged section ends in no rule, and every look at it ends") {
  const Subject& subject = subjects().front();
  const auto file = ElfFile::open(subject.path);
  std::vector<FunctionRows> functions = shuffled_rows(*file);
  functions.resize(40);
  const std::vector<std::byte> whole = write_debug_frame(functions, *subject.arch);
  std::mt19937 random(11);
  for (int i = 0; i < 5'000; ++i) {
    CAPTURE(i);
    std::vector<std::byte> bytes = whole;
    for (auto changes = 1 + random() % 6; changes != 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    bytes.resize(i % 3 == 0 ? random() % bytes.size() : bytes.size());
    bytes.shrink_to_fit();
    const Indexed made(std::move(bytes), 8);
    CHECK(std::ranges::is_sorted(made.index(), {}, &rules::IndexedDescription::begin));
    for (const FunctionRows& function : functions) {
      static_cast<void>(made.rule_at(function.range.begin, subject.registers));
    }
  }
}

TEST_CASE("debug frame: what compilers write in version 4, and what they never write") {
  std::vector<std::byte> bytes;
  const auto put = [&](std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
  };
  const auto entries = [&](unsigned address_size) {
    bytes.clear();
    put(16, 4);
    put(0xffffffff, 4);
    for (const unsigned each :
         {4U, 0U, address_size, 0U, 1U, 0x78U, 16U, 0x0cU, 7U, 8U, 0x90U, 1U}) {
      put(each, 1);  // CFA: r7 + 8; the return address at CFA - 8
    }
    put(20, 4);
    put(0, 4);
    put(0x1000, 8);
    put(0x10, 8);
  };
  const Subject& subject = subjects().front();
  entries(8);
  const Indexed four(bytes, 8);
  CHECK(four.index().size() == 1);
  CHECK(four.rule_at(0x100f, subject.registers).return_slot == -8);
  CHECK(four.rule_at(0x1010, subject.registers).cfa == rules::FrameRule::Cfa::none);
  entries(4);
  CHECK(Indexed(bytes, 8).index().empty());
}

}  // namespace whocall::test
