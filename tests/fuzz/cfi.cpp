// Hostile call frame programs and expressions: rows ascend without gaps, every expression ends.
// What a process finds of itself by a program is what its rows say. The first byte chooses what the
// rest is; the second the architecture and the CIE's factors.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arch/architecture.h"
#include "fuzz.h"
#include "memory/segment_memory.h"
#include "mutators.h"
#include "object/byte_span.h"
#include "object/call_frame_info.h"
#include "rules/cfi_rule.h"
#include "unwind/rows/apply_row.h"
#include "unwind/rows/expression.h"
#include "unwind/rows/fde_rows.h"

namespace {

using namespace whocall;

constexpr AddressRange kFunction{0x1000, 0x1800};

Activation activation_on(const Architecture& arch, Address stack) {
  Activation activation;
  activation.pc = kFunction.begin;
  for (Register number = 0; number < 17; ++number) {
    activation.registers.set(number, stack + number);
  }
  activation.registers.set(arch.registers.sp, stack);
  return activation;
}

// The rule at an address, of a program whose row there is `row`; null: it has none.
void demand_same(const rules::FrameRule& rule, const UnwindRow* row, const Architecture& arch,
                 Register fp) {
  using Rule = rules::FrameRule;
  if (rule.cfa == Rule::Cfa::none) {
    return;  // small rules say less
  }
  fuzz::demand(row != nullptr);
  if (row->cfa.kind == CfaRule::Kind::register_offset) {
    fuzz::demand(rule.cfa_offset == row->cfa.offset &&
                 row->cfa.base == (rule.cfa == Rule::Cfa::from_sp ? arch.registers.sp : fp));
  }
  const RegisterRule* const ret = row->rule_for(row->return_address);
  if (rule.ret == Rule::Return::stored) {
    fuzz::demand(ret != nullptr && ret->kind == RegisterRule::Kind::at_cfa &&
                 ret->offset == rule.return_slot);
  }
  const RegisterRule* const saved = row->rule_for(fp);
  if (rule.fp == Rule::Fp::stored) {
    fuzz::demand(saved != nullptr && saved->kind == RegisterRule::Kind::at_cfa &&
                 saved->offset == rule.fp_slot);
  }
}

// By the walker's rows and one by one, at addresses that follow each other closely.
void compare(const Fde& fde, const std::vector<UnwindRow>& rows, const Architecture& arch) {
  if (fde.instructions.swapped) {
    return;
  }
  const rules::WholeDescription whole{*fde.cie,
                                      {fde.range.begin, fde.range.end, {}, fde.instructions}};
  rules::FrameRegisters registers{.sp = arch.registers.sp, .fp = arch.registers.fp};
  if (arch.registers.link) {
    registers.link = *arch.registers.link;
  }
  for (Address at = fde.range.begin; at < fde.range.end; at += 37) {
    const auto row =
        std::ranges::find_if(rows, [&](const UnwindRow& each) { return each.range.contains(at); });
    demand_same(rules::rule_at(whole, registers, at), row == rows.end() ? nullptr : &*row, arch,
                arch.registers.fp);
  }
}

void run_program(const Architecture& arch, std::uint8_t choice, ByteView program) {
  Cie cie;
  cie.code_alignment = 1 + (choice >> 2U) % 8;
  cie.data_alignment = -static_cast<std::int64_t>(arch.abi.pointer_size);
  cie.address_size = arch.abi.pointer_size;
  cie.return_address = arch.registers.return_address;
  const std::uint64_t split = program.size() / 4;
  cie.instructions = span_of(*program.slice(0, split), 0);
  Fde fde;
  fde.range = kFunction;
  fde.cie = &cie;
  fde.instructions = span_of(program.from(split), 0);
  const SegmentMemory memory({{0x7000, program.bytes()}});
  const Activation callee = activation_on(arch, 0x7000);
  Address next = kFunction.begin;
  const std::vector<UnwindRow> rows = compile(fde);
  compare(fde, rows, arch);
  for (const UnwindRow& row : rows) {
    if (row.range.begin != next || row.range.empty() || row.range.end > kFunction.end) {
      __builtin_trap();
    }
    next = row.range.end;
    (void)apply_row(row, callee, arch, memory);
    (void)to_string(row.cfa, arch);
    for (const NamedRule& named : row.rules) {
      (void)to_string(named.rule, arch);
    }
  }
}

void run_expression(const Architecture& arch, ByteView expression) {
  const SegmentMemory memory({{0x7000, expression.bytes()}});
  const Activation callee = activation_on(arch, 0x7000);
  const auto value = evaluate(expression, {arch, callee.registers, memory, Address{0x7010}});
  if (value && (*value & ~arch.address_mask()) != 0) {
    __builtin_trap();
  }
}

void run_section(const Architecture& arch, std::uint8_t choice, ByteView section) {
  using Format = CallFrameInfo::Format;
  const Format format = (choice & 4U) != 0 ? Format::eh_frame : Format::debug_frame;
  const CallFrameInfo info(format, {section, 0x2000}, std::nullopt, arch.abi.pointer_size);
  info.for_each([](const Fde& fde) { (void)compile(fde); });
  for (const Address address : {Address{0}, Address{0x1000}, Address{0x2010}, ~Address{0}}) {
    const auto found = info.find(address);
    if (found && !found->range.contains(address)) {
      __builtin_trap();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const auto all = architectures();
  const Architecture& arch = *all[data[1] % all.size()];
  const ByteView rest(std::as_bytes(std::span(data + 2, size - 2)), arch.abi.endian);
  switch (data[0] % 3) {
    case 0:
      run_program(arch, data[1], rest);
      break;
    case 1:
      run_expression(arch, rest);
      break;
    default:
      run_section(arch, data[1], rest);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return whocall::fuzz::mutate_frames(data, size, most, seed, 2);
}
