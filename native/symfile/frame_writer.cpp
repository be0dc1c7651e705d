#include "symfile/frame_writer.h"

#include <algorithm>
#include <utility>

#include "base/byte_sink.h"
#include "rules/dwarf.h"

namespace whocall {
namespace {

constexpr std::uint32_t kCieId = 0xffffffff;
constexpr std::uint8_t kVersion = 3;
constexpr std::int64_t kDataAlignment = 1;  // so that offsets are written as they are

bool same_bytes(ByteView left, ByteView right) {
  return std::ranges::equal(left.bytes(), right.bytes());
}

bool same(const RegisterRule& left, const RegisterRule& right) {
  return left.kind == right.kind && left.source == right.source && left.offset == right.offset &&
         same_bytes(left.expression, right.expression);
}

bool same(const CfaRule& left, const CfaRule& right) {
  return left.kind == right.kind && left.base == right.base && left.offset == right.offset &&
         same_bytes(left.expression, right.expression);
}

bool same_rules(const UnwindRow& left, const UnwindRow& right) {
  return same(left.cfa, right.cfa) &&
         std::ranges::equal(left.rules, right.rules, [](const auto& one, const auto& other) {
           return one.number == other.number && same(one.rule, other.rule);
         });
}

// Writes rows one after the other, each as its difference to the one before.
class ProgramWriter {
 public:
  ProgramWriter(ByteSink& out, const Architecture& arch, Address begin)
      : out_(out), arch_(arch), at_(begin) {}

  void write(const UnwindRow& row) {
    if (before_ != nullptr && same_rules(*before_, row)) {
      return;
    }
    advance((row.range.begin - at_) / arch_.code.alignment);
    at_ = row.range.begin;
    if (before_ == nullptr || !same(before_->cfa, row.cfa)) {
      write_cfa(row.cfa);
    }
    if (before_ != nullptr) {
      for (const NamedRule& old : before_->rules) {
        if (row.rule_for(old.number) == nullptr) {
          write_absence(old.number);
        }
      }
    }
    for (const NamedRule& named : row.rules) {
      const RegisterRule* old = before_ != nullptr ? before_->rule_for(named.number) : nullptr;
      if (old == nullptr || !same(*old, named.rule)) {
        write_rule(named);
      }
    }
    before_ = &row;
  }

 private:
  void advance(std::uint64_t steps) {
    constexpr std::uint64_t kShort = 0x3f;
    if (steps > kShort) {
      out_.u8(dw::CFA_advance_loc4).u32(steps);
    } else if (steps != 0) {
      out_.u8(dw::CFA_advance_loc + steps);
    }
  }

  // Without a rule the stack pointer becomes the CFA, and other registers stay as they are.
  void write_absence(Register number) {
    if (number == arch_.registers.sp) {
      write_rule({number, RegisterRule::cfa_plus(arch_.frame.sp_from_cfa())});
    } else {
      write_rule({number, RegisterRule::same()});
    }
  }

  void write_cfa(const CfaRule& cfa) {
    if (cfa.kind == CfaRule::Kind::expression) {
      out_.u8(dw::CFA_def_cfa_expression);
      block(cfa.expression);
    } else if (cfa.offset >= 0) {
      out_.u8(dw::CFA_def_cfa).uleb(cfa.base).uleb(static_cast<std::uint64_t>(cfa.offset));
    } else {
      out_.u8(dw::CFA_def_cfa_sf).uleb(cfa.base).sleb(cfa.offset);
    }
  }

  void write_rule(const NamedRule& named) {
    const RegisterRule& rule = named.rule;
    switch (rule.kind) {
      case RegisterRule::Kind::undefined:
        out_.u8(dw::CFA_undefined).uleb(named.number);
        break;
      case RegisterRule::Kind::same_value:
        out_.u8(dw::CFA_same_value).uleb(named.number);
        break;
      case RegisterRule::Kind::at_cfa:
        out_.u8(dw::CFA_offset_extended_sf).uleb(named.number).sleb(rule.offset);
        break;
      case RegisterRule::Kind::value_cfa:
        out_.u8(dw::CFA_val_offset_sf).uleb(named.number).sleb(rule.offset);
        break;
      case RegisterRule::Kind::in_register:
        out_.u8(dw::CFA_register).uleb(named.number).uleb(rule.source);
        break;
      case RegisterRule::Kind::at_expression:
        out_.u8(dw::CFA_expression).uleb(named.number);
        block(rule.expression);
        break;
      case RegisterRule::Kind::value_expression:
        out_.u8(dw::CFA_val_expression).uleb(named.number);
        block(rule.expression);
        break;
    }
  }

  void block(ByteView bytes) { out_.uleb(bytes.size()).append(bytes.bytes()); }

 private:
  ByteSink& out_;
  const Architecture& arch_;
  Address at_;  // where the next row begins to count, link address
  const UnwindRow* before_ = nullptr;
};

// An entry: the length, then what `write` adds, padded with DW_CFA_nop to a multiple of a word.
template <typename Write>
void entry(ByteSink& out, Write&& write) {
  const std::size_t length_at = out.size();
  out.u32(0);
  std::forward<Write>(write)();
  out.align(out.pointer_size(), dw::CFA_nop);
  out.patch_u32(length_at, static_cast<std::uint32_t>(out.size() - length_at - 4));
}

bool can_be_written(const UnwindRow& row) {
  return !row.signal_frame && row.cfa.kind != CfaRule::Kind::undefined && !row.range.empty();
}

void write_fde(ByteSink& out, std::span<const UnwindRow> run, const Architecture& arch) {
  entry(out, [&] {
    const Address begin = run.front().range.begin;
    out.u32(0);  // where the CIE stands
    out.word(begin & arch.address_mask()).word(run.back().range.end - begin);
    ProgramWriter program(out, arch, begin);
    for (const UnwindRow& row : run) {
      program.write(row);
    }
  });
}

}  // namespace

std::vector<std::byte> write_debug_frame(std::span<const FunctionRows> functions,
                                         const Architecture& arch) {
  ByteSink out(arch.abi.endian, arch.abi.pointer_size);
  entry(out, [&] {
    out.u32(kCieId).u8(kVersion).text("");
    out.uleb(arch.code.alignment).sleb(kDataAlignment);
    out.uleb(arch.registers.return_address);
  });
  for (const FunctionRows& function : functions) {
    const std::span<const UnwindRow> rows = function.rows;
    for (std::size_t first = 0; first < rows.size();) {
      if (!can_be_written(rows[first])) {
        ++first;
        continue;
      }
      std::size_t end = first + 1;
      while (end < rows.size() && can_be_written(rows[end]) &&
             rows[end].range.begin == rows[end - 1].range.end) {
        ++end;
      }
      write_fde(out, rows.subspan(first, end - first), arch);
      first = end;
    }
  }
  return std::move(out).take();
}

}  // namespace whocall
