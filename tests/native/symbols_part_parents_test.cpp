// Which function the cold code of a file belongs to.
#include <doctest/doctest.h>

#include <array>
#include <map>
#include <string>
#include <utility>

#include "arch/x86/x86_64_facts.h"
#include "base/interrupt.h"
#include "symbols/discovery/part_parents.h"
#include "unwind_code.h"

namespace whocall::test {
namespace {

constexpr Address kText = 0x401000;

// Code at the start of .text, and three functions behind it that main calls, 32 bytes each: one
// that makes room on the stack and two that do not. Each jumps to a place in that code where its
// argument is not positive.
class File {
 public:
  static constexpr Address kRoomy = kText + 0x40;
  static constexpr Address kLeaf = kText + 0x60;
  static constexpr Address kOther = kText + 0x80;

  File& cold(const Bytes& bytes) {
    cold_ = bytes;
    return *this;
  }
  // Offsets in the cold code.
  File& jumps(unsigned roomy, unsigned leaf, unsigned other) {
    targets_ = {roomy, leaf, other};
    return *this;
  }
  File& fde(AddressRange range) {
    table_.fde(table_.usual_cie(), range);
    return *this;
  }
  // The leaf jumps whatever its argument is.
  File& without_choice() {
    leaf_chooses_ = false;
    return *this;
  }
  File& called(unsigned offset) {
    called_ = offset;
    return *this;
  }

  PartOwner owner_of(unsigned site, bool never_returns, Address start = kText) const {
    const auto file = built().debug_frame(table_).file();
    const FunctionStarts starts(*file, kX86_64, *SymbolTable::from_elf(file));
    PartParents parents(*file, kX86_64, starts, std::array{start});
    return parents.owner_of({start, kText + site, never_returns});
  }

 private:
  CodeFile built() const {
    Bytes code = cold_;
    code.fill(0x40 - code.size(), 0xcc);
    code.append(Bytes{0x48, 0x83, 0xec, 0x08});  // sub $8,%rsp
    jump(code, targets_[0]);
    code.append(Bytes{0x48, 0x83, 0xc4, 0x08, 0xc3});
    code.fill(0x60 - code.size(), 0xcc);
    leaf_chooses_ ? jump(code, targets_[1]) : jump_always(code, targets_[1]);
    code.u8(0xc3);
    code.fill(0x80 - code.size(), 0xcc);
    jump(code, targets_[2]);
    code.u8(0xc3);
    code.fill(0xa0 - code.size(), 0xcc);
    for (const unsigned function : {0x40U, 0x60U, 0x80U, called_}) {
      code.u8(0xe8);
      code.u32(function - static_cast<unsigned>(code.size()) - 4);
    }
    code.u8(0xc3);
    return CodeFile(kX86_64).code(kText, code);
  }

  // test %edi,%edi; jle target
  static void jump(Bytes& code, unsigned target) {
    code.append(Bytes{0x85, 0xff, 0x0f, 0x8e});
    code.u32(target - static_cast<unsigned>(code.size()) - 4);
  }

  // xor %esi,%esi; jmp target
  static void jump_always(Bytes& code, unsigned target) {
    code.append(Bytes{0x31, 0xf6, 0xe9});
    code.u32(target - static_cast<unsigned>(code.size()) - 4);
  }

  Bytes cold_;
  bool leaf_chooses_ = true;
  std::array<unsigned, 3> targets_{};
  unsigned called_ = 0x40;
  FrameTable table_{kX86_64};
};

// lea text(%rip),%rdi; call fails: 12 bytes, the call at 7
Bytes failure() { return Bytes{0x48, 0x8d, 0x3d, 0x00, 0x10, 0x00, 0x00, 0xe8, 0, 0, 0x10, 0}; }

// test %esi,%esi; je over the failure; the failure; ret: 17 bytes, the call at 11
Bytes may_return() { return Bytes{0x85, 0xf6, 0x74, 0x0c}.append(failure()).u8(0xc3); }

bool is_part(const PartOwner& owner, Address function) {
  return owner.kind == PartKind::part && owner.function == function;
}

TEST_CASE("part parents: cold parts one behind the other, which no table delimits") {
  const File file = File().cold(failure().append(failure()).append(failure())).jumps(0, 12, 24);
  CHECK(is_part(file.owner_of(7, true), File::kRoomy));
  CHECK(is_part(file.owner_of(12 + 7, true), File::kLeaf));
  CHECK(is_part(file.owner_of(24 + 7, true), File::kOther));
  CHECK_FALSE(file.owner_of(7, true).whole);  // three functions share that code
}

TEST_CASE("part parents: a jump that leaves nothing on the stack may be a tail call") {
  const File file =
      File().cold(may_return().append(may_return()).append(may_return())).jumps(0, 17, 34);
  CHECK(is_part(file.owner_of(11, false), File::kRoomy));
  CHECK(is_part(file.owner_of(11, true), File::kRoomy));
  CHECK(file.owner_of(17 + 11, false).kind == PartKind::unclear);
  CHECK(file.owner_of(17 + 11, true).kind == PartKind::unclear);
}

TEST_CASE("part parents: what a call ends that may return may be a function") {
  const File file = File().cold(failure().append(failure()).append(failure())).jumps(0, 12, 24);
  CHECK(file.owner_of(12 + 7, false).kind == PartKind::unclear);
}

TEST_CASE("part parents: a part that several functions enter is none") {
  const File file = File().cold(failure()).jumps(0, 0, 0);
  CHECK(file.owner_of(7, true).kind == PartKind::function);
}

TEST_CASE("part parents: an aligned part with a table of its own") {
  const AddressRange part{kText, kText + 12};
  const AddressRange next{kText + 12, kText + 36};
  const File file = File()
                        .cold(failure().append(failure()).append(failure()))
                        .jumps(0, 12, 24)
                        .fde(part)
                        .fde(next);
  CHECK(is_part(file.owner_of(7, true), File::kRoomy));
  CHECK(file.owner_of(7, true).whole);
  const File leaf = File()
                        .cold(failure().append(failure()).append(failure()))
                        .jumps(12, 0, 24)
                        .fde(part)
                        .fde(next);
  CHECK(is_part(leaf.owner_of(7, true), File::kLeaf));
  CHECK(leaf.owner_of(7, false).kind == PartKind::unclear);
}

TEST_CASE("part parents: what decides nothing has no part, aligned or not") {
  // Eight bytes that nobody jumps to stand before it.
  const Bytes cold = Bytes().fill(8, 0xcc).append(may_return()).fill(7, 0xcc).append(failure());
  const AddressRange returns{kText + 8, kText + 25};
  const AddressRange fails{kText + 32, kText + 44};
  const auto file = [&](unsigned target) {
    return File().cold(cold).jumps(4, target, 4).fde(returns).fde(fails);
  };
  const PartOwner chosen = file(8).owner_of(8 + 11, false, returns.begin);
  CHECK(is_part(chosen, File::kLeaf));
  const PartOwner told = file(8).without_choice().owner_of(8 + 11, false, returns.begin);
  CHECK(told.kind == PartKind::function);
  CHECK(told.function == returns.begin);
  CHECK(is_part(file(32).owner_of(32 + 7, true, fails.begin), File::kLeaf));
  CHECK(file(32).without_choice().owner_of(32 + 7, true, fails.begin).kind == PartKind::function);
}

TEST_CASE("part parents: a part behind a function that ends in a call") {
  const File file = File().cold(failure().append(failure())).jumps(12, 0x30, 0x30).called(0);
  CHECK(file.owner_of(7, true).kind == PartKind::function);
  CHECK(is_part(file.owner_of(12 + 7, true), File::kRoomy));
}

TEST_CASE("part parents: a jump into the middle of another function makes no part of it") {
  // push %rbx; test %edi,%edi; pop %rbx, and on into the failure
  const Bytes start{0x53, 0x85, 0xff, 0x5b};
  const File file = File().cold(Bytes(start).append(failure())).jumps(4, 0x30, 0x30).called(0);
  const PartOwner owner = file.owner_of(4 + 7, true);
  CHECK(owner.kind == PartKind::function);
  CHECK(owner.function == kText);
}

TEST_CASE("part parents: nobody calls what a symbol says is a part") {
  const std::map<std::string, bool> parts = {
      {"parse.cold", true}, {"parse.cold.3", true}, {"parse.colder", false}, {"parse", false}};
  for (const auto& part : parts) {
    const auto& [name, is_part] = part;
    CAPTURE(part.first);  // clang 14 captures no structured binding
    Bytes symbols = Bytes().fill(24, 0);
    symbols.u32(1).u8(STT_FUNC).u8(0).u16(1).u64(kText + 0x10).u64(0x10);
    const auto file = CodeFile(kX86_64)
                          .code(kText, Bytes().fill(64, 0x90))
                          .section({.name = ".strtab",
                                    .type = SHT_STRTAB,
                                    .bytes = Bytes().u8(0).text(name),
                                    .flags = 0})
                          .section({.name = ".symtab",
                                    .type = SHT_SYMTAB,
                                    .bytes = symbols,
                                    .flags = 0,
                                    .entry_size = 24,
                                    .link = 2})
                          .file();
    const FunctionStarts starts(*file, kX86_64, *SymbolTable::from_elf(file));
    CHECK(starts.evidence_at(kText + 0x10).certain());
    CHECK(starts.is_called(kText + 0x10) != is_part);
  }
}

TEST_CASE("stack depths: Ctrl-C is heard among many short functions") {
  constexpr std::size_t kSize = 64;  // instructions, and bytes
  constexpr std::size_t kTimes = 1000;
  static std::size_t checks = 0;
  const Bytes code = Bytes().fill(kSize - 1, 0x90).u8(0xc3);
  const auto file = CodeFile(kX86_64).code(kText, code).file();
  StackDepths depths(*file, kX86_64);
  set_interrupt_check([] { ++checks; });
  for (std::size_t i = 0; i < kTimes; ++i) {
    const JumpsOut found = depths.follow(kText, {kText, kText + kSize}, {});
    CHECK(found.reached.size() == kSize);
  }
  set_interrupt_check(nullptr);
  CHECK(checks == kSize * kTimes / kManyEntries);
}

}  // namespace
}  // namespace whocall::test
