// Where functions begin in a file without symbols, and what tells so.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "arch/arm.h"
#include "arch/i386.h"
#include "arch/x32.h"
#include "arch/x86_64.h"
#include "symbols/starts/code_pointers.h"
#include "symbols/starts/function_starts.h"
#include "unwind_code.h"

namespace whocall::test {
namespace {

constexpr Address kText = 0x401000;
constexpr Address kData = 0x402000;

// Code in pieces of 32 bytes, padded with int3.
class Code {
 public:
  Address add(const Bytes& piece) {
    const Address address = kText + bytes_.size();
    bytes_.append(piece).fill(32 - piece.size(), 0xcc);
    return address;
  }
  [[nodiscard]] Address next() const { return kText + bytes_.size(); }
  Address call(Address target) {  // call target; ret
    return add(Bytes{0xe8}.u32(target - (next() + 5)).u8(0xc3));
  }
  [[nodiscard]] CodeFile file(const Architecture& arch) const {
    return CodeFile(arch).code(kText, bytes_);
  }

 private:
  Bytes bytes_;
};

FunctionStarts starts_of(const Architecture& arch, const CodeFile& parts) {
  const auto file = parts.file();
  return {*file, arch, *SymbolTable::from_elf(file)};
}

// push %rbp; mov %rsp,%rbp; pop %rbp; ret: the same in both instruction sets but for one prefix
Bytes framed(const Architecture& arch) {
  return arch.abi.pointer_size == 8 ? Bytes{0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}
                                    : Bytes{0x55, 0x89, 0xe5, 0x5d, 0xc3};
}

TEST_CASE("function starts: the entry point, calls, prologues and the section's start") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    CAPTURE(std::string(arch->name));
    Code code;
    const Address first = code.add({0x31, 0xc0, 0xc3});  // xor %eax,%eax; ret
    const Address guessed = code.add(framed(*arch));
    const Address called = code.add({0x31, 0xc0, 0xc3});
    const Address entry = code.call(called);
    code.call(called);
    code.add({0x31, 0xc0, 0xc3});
    const FunctionStarts starts = starts_of(*arch, code.file(*arch).entry(entry));
    CHECK(starts.evidence_at(first).has(StartEvidence::section_start));
    CHECK(starts.evidence_at(guessed).has(StartEvidence::prologue));
    CHECK(starts.evidence_at(called).has(StartEvidence::call_target));
    CHECK(starts.evidence_at(entry).has(StartEvidence::entry_point));
    CHECK(starts.evidence_at(called + 1) == StartEvidenceSet());
    CHECK_FALSE(starts.is_called(first));
    CHECK_FALSE(starts.is_called(guessed));
    CHECK(starts.is_called(called));
    CHECK(starts.is_called(entry));
  }
}

TEST_CASE("function starts: a function reaches from its start to the next one") {
  Code code;
  const Address first = code.add(framed(kX86_64));
  const Address second = code.add(framed(kX86_64));
  const FunctionStarts starts = starts_of(kX86_64, code.file(kX86_64));
  CHECK(starts.function_at(first) == AddressRange{first, second});
  CHECK(starts.function_at(second - 1) == AddressRange{first, second});
  CHECK(starts.function_at(second + 3) == AddressRange{second, code.next()});
  CHECK_FALSE(starts.function_at(code.next()).has_value());
  CHECK_FALSE(starts.function_at(first - 1).has_value());
  CHECK_FALSE(starts.function_at(0).has_value());
  CHECK_FALSE(starts.function_at(~Address{0}).has_value());
  Address before = 0;
  for (const FunctionStart& start : starts.all()) {
    CHECK(start.address > before);
    before = start.address;
  }
}

TEST_CASE("function starts: no guess stands where an unwind table knows a function") {
  Code code;
  const Address first = code.add(framed(kX86_64));
  const Address inside = code.add(framed(kX86_64));
  const Address behind = code.add(framed(kX86_64));
  FrameTable table(kX86_64);
  table.fde(table.usual_cie(), {first, behind});
  const FunctionStarts starts = starts_of(kX86_64, code.file(kX86_64).debug_frame(table));
  CHECK(starts.evidence_at(first).has(StartEvidence::fde));
  CHECK(starts.evidence_at(inside) == StartEvidenceSet());
  CHECK(starts.evidence_at(behind).has(StartEvidence::prologue));
  CHECK(starts.function_at(inside) == AddressRange{first, behind});
}

TEST_CASE("function starts: behind a call that never returns, where nothing is aligned") {
  const auto code = [](const Bytes& last) {
    return CodeFile(kX86_64).code(kText, Bytes{0xe8}
                                             .u32(0x21 - 5)  // call of the function at 0x21
                                             .u8(0xe8)
                                             .u32(0x27 - 10)
                                             .append(Bytes{0x48, 0x8d, 0x3d})
                                             .u32(0x2d - 17)  // lea taken(%rip),%rdi
                                             .u8(0xc3)
                                             .fill(0x21 - 18, 0xcc)
                                             .append(framed(kX86_64))
                                             .u8(0x55)
                                             .append(last)
                                             .append(Bytes{0x55, 0x53, 0x5b, 0x5d, 0xc3}));
  };
  constexpr Address kTaken = kText + 0x2d;
  const FunctionStarts behind_call = starts_of(kX86_64, code(Bytes{0xe8}.u32(0x21 - 0x2d)));
  CHECK(behind_call.evidence_at(kTaken).has(StartEvidence::address_taken));
  // A label in the middle of code, which pushes.
  const FunctionStarts label = starts_of(kX86_64, code({0x50, 0x50, 0x50, 0x50, 0x50}));
  CHECK(label.evidence_at(kTaken) == StartEvidenceSet());
}

TEST_CASE("function starts: functions that are not aligned before a library of those that are") {
  constexpr std::size_t kOwn = 41;
  constexpr std::size_t kLibrary = 200;
  constexpr std::uint32_t kCalls = 5 * (2 * kOwn + kLibrary);
  constexpr std::uint32_t kLea = 7;
  constexpr std::uint32_t kOwnBegin = kCalls + kLea + 1;
  constexpr std::uint32_t kTaken = kOwnBegin + 7 * kOwn;  // behind a call that never returns
  constexpr std::uint32_t kMoreBegin = kTaken + 5;
  constexpr std::uint32_t kLibraryBegin = (kMoreBegin + 7 * kOwn + 64) / 16 * 16;
  Bytes code;
  const auto call = [&](std::uint32_t target) {
    code.u8(0xe8);
    code.u32(target - static_cast<std::uint32_t>(code.size()) - 4);
  };
  for (std::uint32_t i = 0; i < kOwn; ++i) {
    call(kOwnBegin + 7 * i);
    call(kMoreBegin + 7 * i);
  }
  for (std::uint32_t i = 0; i < kLibrary; ++i) {
    call(kLibraryBegin + 16 * i);
  }
  code.append(Bytes{0x48, 0x8d, 0x3d}).u32(kTaken - kCalls - kLea).u8(0xc3);  // lea taken(%rip)
  const auto add_own = [&] {
    for (std::uint32_t i = 0; i < kOwn; ++i) {
      code.append(Bytes{0x53, 0x90});
      call(kLibraryBegin);
    }
  };
  add_own();
  code.append(Bytes{0x55, 0x53, 0x5b, 0x5d, 0xc3});
  add_own();
  code.fill(kLibraryBegin - code.size(), 0xcc);
  for (std::uint32_t i = 0; i < kLibrary; ++i) {
    code.append(framed(kX86_64)).fill(10, 0xcc);
  }
  const FunctionStarts starts = starts_of(kX86_64, CodeFile(kX86_64).code(kText, code));
  CHECK(starts.evidence_at(kText + kTaken).has(StartEvidence::address_taken));
}

TEST_CASE("function starts: in T32, what code names with a mark is a function; else it is data") {
  constexpr Address kTaken = kText + 0x18;
  constexpr Address kNamed = kText + 0x1c;
  Bytes code;
  // push {r3,lr}; ldr r0,[pc,#12]; add r0,pc; ldr r1,[pc,#12]; add r1,pc; bl kText; pop {r3,pc}
  for (const unsigned half :
       {0xb508U, 0x4803U, 0x4478U, 0x4903U, 0x4479U, 0xf7ffU, 0xfff9U, 0xbd08U}) {
    code.u16(half);
  }
  code.u32(kTaken + 1 - (kText + 8)).u32(kNamed - (kText + 12));
  // ldr r0,[r0]; bx lr, twice
  for (const unsigned half : {0x6800U, 0x4770U, 0x6800U, 0x4770U}) {
    code.u16(half);
  }
  const FunctionStarts starts = starts_of(kArm, CodeFile(kArm).code(kText, code));
  CHECK(starts.evidence_at(kTaken) == StartEvidence::address_taken);
  CHECK(starts.evidence_at(kNamed) == StartEvidenceSet());
}

TEST_CASE("function starts: what a table delimits lends its name to nothing behind it") {
  constexpr Address kEnd = kText + 16;
  Bytes code;
  code.fill(32, 0x90).u8(0xc3);
  FrameTable table(kX86_64);
  table.fde(table.usual_cie(), {kText, kEnd});
  CodeProcess process(kX86_64, CodeFile(kX86_64).code(kText, code).debug_frame(table).entry(kText));
  const auto& inside = process.symbolizer.describe(kEnd - 1, {}).function;
  REQUIRE(inside.has_value());
  CHECK(inside->start == kText);
  CHECK_FALSE(process.symbolizer.describe(kEnd, {}).function.has_value());
  CHECK_FALSE(process.symbolizer.describe(kEnd + 8, {}).function.has_value());
}

TEST_CASE("function starts: a file without code") {
  CHECK_FALSE(starts_of(kX86_64, CodeFile(kX86_64)).function_at(kText).has_value());
}

TEST_CASE("the look of a start: what stands before it and how it begins") {
  const Bytes code =
      Bytes{0xc3}.fill(15, 0xcc).append(Bytes{0x55, 0x48, 0x89, 0xe5}).fill(32, 0x90);
  const StartFeatures framed_look = kX86_64.code.features_at_start(code.view(), 16);
  CHECK(framed_look.behind_end);
  CHECK(framed_look.prologue);
  CHECK_FALSE(framed_look.landing_pad);
  const Bytes pad = Bytes{0xc3, 0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xc0}.fill(32, 0x90);
  const StartFeatures pad_look = kX86_64.code.features_at_start(pad.view(), 1);
  CHECK(pad_look.landing_pad);
  CHECK(pad_look.behind_end);
  // xor %eax,%eax goes on into what follows.
  const Bytes middle = Bytes{0x31, 0xc0, 0x31, 0xc9}.fill(32, 0x31);
  CHECK_FALSE(kX86_64.code.features_at_start(middle.view(), 2).behind_end);
  CHECK_FALSE(kX86_64.code.features_at_start(middle.view(), 2).prologue);
}

TEST_CASE("the look of a start: operands that look like the end of a function") {
  const auto behind_end = [](const Bytes& before) {
    return kX86_64.code.features_at_start(before.view(), before.view().size()).behind_end;
  };
  CHECK_FALSE(behind_end({0x49, 0x89, 0xf4}));        // mov %rsi,%r12: no hlt
  CHECK_FALSE(behind_end({0x48, 0x89, 0xc3}));        // mov %rax,%rbx: no ret
  CHECK_FALSE(behind_end({0x48, 0x89, 0xeb, 0x51}));  // mov %rbp,%rbx; push %rcx: no jmp
  CHECK(behind_end({0x48, 0x83, 0xc4, 0x08, 0xc3}));  // add $8,%rsp; ret
  CHECK(behind_end({0xb0, 0x01, 0xc3}));              // mov $1,%al; ret
  CHECK(behind_end({0x5b, 0xeb, 0x10}));              // pop %rbx; jmp
  CHECK(behind_end({0xff, 0x15, 1, 2, 0, 0, 0xf4}));  // call *main's caller; hlt
  CHECK(behind_end({0xe8, 1, 2, 0, 0, 0xf4}));
}

TEST_CASE("the look of a start: where pointers have 4 bytes, no prefix makes operands wide") {
  const Bytes lowers = Bytes{0xc3, 0x83, 0xec, 0x08}.fill(32, 0x90);  // sub $8,%esp
  CHECK(kX32.code.features_at_start(lowers.view(), 1).prologue);
  CHECK_FALSE(kX86_64.code.features_at_start(lowers.view(), 1).prologue);
  // lea 0x20(%rip),%edi; lea 0x10(%rip),%r8d
  const Bytes takes =
      Bytes{0x8d, 0x3d, 0x20, 0, 0, 0, 0x44, 0x8d, 0x05, 0x10, 0, 0, 0}.fill(0x60, 0x90);
  const std::vector<Address> taken = {kText + 0x26, kText + 0x1d};
  StartMarks marks;
  kX32.code.append_start_marks(takes.view(), kText, marks);
  CHECK(marks.address_taken == taken);
  std::vector<ConstantAddress> found;
  kX32.code.append_constant_addresses(takes.view(), kText, {}, true, {kText, kText + 0x60}, found);
  REQUIRE(found.size() == 2);
  CHECK(found[0].at == kText);
  CHECK(found[0].destination == kX32.register_named("rdi"));
  CHECK(found[1].at == kText + 6);
  CHECK(found[1].value == kText + 0x1d);
  CHECK(found[1].destination == kX32.register_named("r8"));
}

TEST_CASE("the look of a start: anywhere in code that is cut off, nothing beyond is read") {
  const Bytes whole{0xc3, 0xcc, 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xe9, 0, 0x53};
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const std::vector<std::byte> part(whole.get().begin(), whole.get().begin() + size);
      const ByteView view(part, Endian::little);
      for (std::size_t at = 0; at <= size; ++at) {
        (void)arch->code.features_at_start(view, at);
      }
      StartMarks marks;
      arch->code.append_start_marks(view, kText, marks);
      for (const Address mark : marks.prologues) {
        CHECK(mark - kText < size);
      }
    }
  }
}

// Relocations that write link address plus bias.
Bytes relative(const std::vector<std::pair<Address, Address>>& words) {
  Bytes entries;
  for (const auto& [where, target] : words) {
    entries.u64(where).u64(R_X86_64_RELATIVE).u64(target);
  }
  return entries;
}

TEST_CASE("code pointers: initializers, functions, and words that point to no code") {
  Code code;
  const Address init = code.add(framed(kX86_64));
  const Address function = code.add(framed(kX86_64));
  const auto file = code.file(kX86_64)
                        .section({.name = ".init_array",
                                  .type = SHT_INIT_ARRAY,
                                  .address = kData,
                                  .bytes = Bytes().u64(init).u64(0).u64(~std::uint64_t{0}),
                                  .flags = SHF_ALLOC | SHF_WRITE,
                                  .entry_size = 8})
                        .section({.name = ".rela.dyn",
                                  .type = SHT_RELA,
                                  .address = kData + 0x100,
                                  .bytes = relative({{kData + 0x200, function},
                                                     {kData + 0x208, kData},
                                                     {kData + 0x210, code.next()},
                                                     {kData, init}}),
                                  .entry_size = 24})
                        .file();
  const std::vector<AddressRange> areas = {{kText, code.next()}};
  const CodePointers pointers(*file, kX86_64, areas, {});
  const std::vector<Address> initializers(pointers.initializers().begin(),
                                          pointers.initializers().end());
  const std::vector<Address> functions(pointers.functions().begin(), pointers.functions().end());
  CHECK(std::ranges::count(initializers, init) >= 1);
  CHECK(functions == std::vector<Address>{function});
  CHECK_FALSE(pointers.is_case(function));
}

TEST_CASE("code pointers: a table of functions that nobody aligned, and one of labels") {
  const auto functions_of = [](const Bytes& end) {
    constexpr unsigned kMany = 12;
    Bytes code = Bytes{0x90}.append(end);
    std::vector<std::pair<Address, Address>> words;
    for (unsigned i = 0; i < kMany; ++i) {
      words.emplace_back(kData + 0x800 + 8 * i, kText + code.size());
      code.append(Bytes{0x8d, 0x47, 0x01}).append(end);  // lea 1(%rdi),%eax
    }
    const auto file = CodeFile(kX86_64)
                          .code(kText, code)
                          .section({.name = ".rela.dyn",
                                    .type = SHT_RELA,
                                    .address = kData,
                                    .bytes = relative(words),
                                    .entry_size = 24})
                          .file();
    const std::vector<AddressRange> areas = {{kText, kText + code.size()}};
    return CodePointers(*file, kX86_64, areas, {}).functions().size();
  };
  CHECK(functions_of({0xc3}) == 12);                   // ret
  CHECK(functions_of({0xc2, 0x08, 0x00}) == 12);       // ret $8
  CHECK(functions_of({0xe8, 0, 0, 0x10, 0}) == 12);    // call of what never returns
  CHECK(functions_of({0xff, 0xe0}) == 0);              // jmp *%rax
  CHECK(functions_of({0xe9, 0xc3, 0xc3, 0, 0}) == 0);  // jmp to where all dispatch
  CHECK(functions_of({0xeb, 0x80}) == 0);
}

TEST_CASE("function starts: a pointer to an aligned place behind a call") {
  const auto starts_behind = [](std::uint8_t opcode) {  // with 32 bits of an operand
    const Bytes code = Bytes()
                           .fill(11, 0x90)
                           .u8(opcode)
                           .u32(0x10)
                           .append(Bytes{0x8d, 0x47, 0x01, 0xc3})
                           .fill(12, 0xcc)
                           .append(framed(kX86_64));
    return starts_of(kX86_64, CodeFile(kX86_64)
                                  .code(kText, code)
                                  .section({.name = ".rela.dyn",
                                            .type = SHT_RELA,
                                            .address = kData,
                                            .bytes = relative({{kData + 0x200, kText + 0x10}}),
                                            .entry_size = 24}));
  };
  CHECK(starts_behind(0xe8).evidence_at(kText + 0x10).has(StartEvidence::code_pointer));
  CHECK(starts_behind(0xb8).evidence_at(kText + 0x10) == StartEvidenceSet());  // mov $16,%eax
}

}  // namespace
}  // namespace whocall::test
