// Call frame programs in, rows as one line of text out.
#pragma once

#include <algorithm>
#include <string>

#include "arch/x86/x86_64_facts.h"
#include "base/hex.h"
#include "base_bytes.h"
#include "object/byte_span.h"
#include "rules/dwarf.h"
#include "unwind/rows/fde_rows.h"

namespace whocall::test {

inline constexpr AddressRange kFunction{0x1000, 0x1100};

// CFA = rsp + 8, return address at CFA - 8: how every x86-64 CIE begins.
inline Bytes usual_cie() { return {dw::CFA_def_cfa, 7, 8, dw::CFA_offset | 16U, 1}; }

struct Factors {
  std::uint64_t code = 1;
  std::int64_t data = -8;
};

// "0x1000 rsp+8 rip=c-8": the row's start, its CFA and its rules by register number.
inline std::string text_of(const UnwindRow& row) {
  std::string text = hex(row.range.begin) + " " + to_string(row.cfa, kX86_64);
  auto rules = row.rules;
  std::ranges::sort(rules, {}, &NamedRule::number);
  for (const NamedRule& named : rules) {
    const auto& names = kX86_64.registers.names;
    const bool has_name = named.number < names.size() && !names[named.number].empty();
    text += " " + (has_name ? std::string(names[named.number]) : std::to_string(named.number)) +
            "=" + to_string(named.rule, kX86_64);
  }
  return text;
}

// All rows, then where the last one ends: "0x1000 rsp+8 rip=c-8 | 0x1100". Says so in capitals when
// rows do not follow each other without a gap.
inline std::string compiled(const Bytes& cie_program, const Bytes& fde_program,
                            Factors factors = {}, AddressRange range = kFunction) {
  Cie cie;
  cie.code_alignment = factors.code;
  cie.data_alignment = factors.data;
  cie.return_address = 16;
  cie.instructions = span_of(cie_program.view(), 0);
  Fde fde;
  fde.range = range;
  fde.cie = &cie;
  fde.instructions = span_of(fde_program.view(), 0);
  std::string text;
  Address next = range.begin;
  for (const UnwindRow& row : compile(fde)) {
    text += (row.range.begin == next ? "" : "GAP ") + text_of(row) + " | ";
    next = row.range.end;
  }
  return text + hex(next);
}

}  // namespace whocall::test
