// The rules that a process finds about itself, held against the rows that the walker compiles from
// the same tables: they must lead to the same caller wherever the small ones have an answer.
#include <doctest/doctest.h>

#include <elf.h>

#include <random>
#include <string>
#include <vector>

#include "arch/aarch64/facts.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "memory/segment_memory.h"
#include "object/call_frame_info.h"
#include "object/elf_file.h"
#include "rules/cfi_rule.h"
#include "rules/frame_tables.h"
#include "unwind/rows/apply_row.h"
#include "unwind/rows/fde_rows.h"

namespace whocall::test {
namespace {

constexpr Address kStack = 0x40000000;
constexpr std::size_t kStackSize = 0x80000;  // bytes

struct Subject {
  std::string path;
  const Architecture* arch;
  rules::FrameRegisters registers;
};

// Its words are addresses in its upper half: wherever a rule reads, it reads one that is larger
// than the stack pointer.
class RandomStack {
 public:
  explicit RandomStack(unsigned word_size) : bytes_(kStackSize) {
    std::mt19937 random(7);
    for (std::size_t at = 0; at < bytes_.size(); at += word_size) {
      const std::uint64_t word =
          kStack + kStackSize / 2 + (random() % (kStackSize / 4) & ~std::size_t{15});
      std::memcpy(&bytes_[at], &word, word_size);
    }
  }
  [[nodiscard]] SegmentMemory memory() const { return SegmentMemory({{kStack, bytes_}}); }

 private:
  std::vector<std::byte> bytes_;
};

// A file as its process would see it, at its link addresses.
rules::FrameTables tables_of(const ElfFile& file) {
  const LoadedPart header = file.eh_frame_hdr().value();
  for (const ElfSegment& each : file.segments()) {
    if (each.type == PT_LOAD && header.address - each.address < each.file_size) {
      return {
          .mapped = {file.bytes().from(each.offset).bytes().data(), each.address, each.file_size},
          .header = header.address,
          .word_size = file.pointer_size()};
    }
  }
  return {};
}

class Comparison {
 public:
  Comparison(const Subject& subject, unsigned word_size)
      : subject_(subject), stack_(word_size), memory_(stack_.memory()) {
    start_.sp = kStack + 0x100;
    start_.fp = kStack + 0x20000;
    start_.link = 0x1234560;
    start_.link_known = subject.registers.link.has_value();
    callee_.registers.set(static_cast<Register>(subject.registers.sp), start_.sp);
    callee_.registers.set(static_cast<Register>(subject.registers.fp), start_.fp);
    if (start_.link_known) {
      callee_.registers.set(subject.arch->registers.link.value(), start_.link);
    }
  }

  // Whether the small rule has an answer; it has to be the row's.
  bool same(const rules::FrameRule& rule, const UnwindRow& row, Address at) {
    callee_.pc = at;
    callee_.interrupted = true;
    callee_.registers.set(subject_.arch->registers.pc, at);
    rules::FramePoint point = start_;
    point.pc = at;
    const auto read = [&](std::uintptr_t address, std::uintptr_t& value) {
      const auto word = word_at(address);
      value = word.value_or(0);
      return word.has_value();
    };
    const AppliedRow whole = apply_row(row, callee_, *subject_.arch, memory_);
    if (!rules::step(rule, subject_.arch->code.pointer_mask, read, point)) {
      return rule.cfa != rules::FrameRule::Cfa::none && whole.failure == ApplyFailure::outermost &&
             rule.ret == rules::FrameRule::Return::outermost;
    }
    REQUIRE(whole.failure == ApplyFailure::none);
    CHECK(point.pc == whole.caller.pc);
    CHECK(point.sp == whole.caller.registers.get(static_cast<Register>(subject_.registers.sp)));
    if (point.fp_known) {
      CHECK(point.fp == whole.caller.registers.get(static_cast<Register>(subject_.registers.fp)));
    }
    return true;
  }

  // A plain rule's own step does as the other's.
  void same_in_brief(const rules::ShortRule& brief, const rules::FrameRule& rule, Address at) {
    if (!brief.is_plain()) {
      return;
    }
    const auto word = [&](std::uintptr_t address) { return word_at(address).value_or(0); };
    const auto read = [&](std::uintptr_t address, std::uintptr_t& value) {
      value = word_at(address).value_or(0);
      return true;
    };
    rules::FramePoint one = start_;
    one.pc = at;
    rules::FramePoint other = one;
    const std::uintptr_t mask = subject_.arch->code.pointer_mask;
    CHECK(rules::step(rule, mask, read, one) == rules::plain_step(brief, mask, word, other));
    CHECK(one.pc == other.pc);
    CHECK(one.sp == other.sp);
    CHECK(one.fp == other.fp);
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> word_at(std::uintptr_t address) const {
    return memory_.read_unsigned(address, subject_.arch->abi.pointer_size,
                                 subject_.arch->abi.endian);
  }

  const Subject& subject_;
  RandomStack stack_;
  SegmentMemory memory_;
  Activation callee_;
  rules::FramePoint start_;
};

}  // namespace

TEST_CASE("frame rules: the same callers as the walker's rows, in whole libraries") {
  const rules::FrameRegisters x86_64{.sp = 7, .fp = 6};
  const rules::FrameRegisters i386{.sp = 4, .fp = 5};
  const rules::FrameRegisters aarch64{.sp = 31, .fp = 29, .link = 30};
  for (const Subject& subject :
       {Subject{"/lib/x86_64-linux-gnu/libc.so.6", &kX86_64, x86_64},
        Subject{"/lib/x86_64-linux-gnu/libstdc++.so.6", &kX86_64, x86_64},
        Subject{"/lib32/libc.so.6", &kI386, i386},
        Subject{"/usr/aarch64-linux-gnu/lib/libc.so.6", &kAArch64, aarch64}}) {
    CAPTURE(subject.path);
    const auto file = ElfFile::open(subject.path);
    const rules::FrameTables tables = tables_of(*file);
    Comparison comparison(subject, file->pointer_size());
    std::size_t answered = 0;
    std::size_t asked = 0;
    eh_frame_of(*file)->for_each([&](const Fde& fde) {
      if (fde.cie->signal_frame) {
        return;
      }
      rules::WholeDescription description;
      CAPTURE(fde.range.begin);
      REQUIRE(rules::find_description(tables, fde.range.begin, description));
      REQUIRE(description.fde.end == fde.range.end);
      for (const UnwindRow& row : compile(fde)) {
        for (const Address at : {row.range.begin, row.range.end - 1}) {
          CAPTURE(at);
          const rules::FrameRule rule = rules::rule_at(description, subject.registers, at);
          asked += 1;
          answered += comparison.same(rule, row, at) ? 1 : 0;
          rules::ShortRule brief;
          if (rules::shortened(rule, brief)) {
            CHECK(rules::lengthened(brief) == rule);
            comparison.same_in_brief(brief, rule, at);
          }
        }
      }
    });
    MESSAGE(subject.path << ": " << answered << " of " << asked);
    CHECK(asked > 10'000);
    CHECK(static_cast<double>(answered) > 0.995 * static_cast<double>(asked));
  }
}

}  // namespace whocall::test
