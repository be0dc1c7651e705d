#include "unwind/rows/chain_row.h"

#include <utility>

#include "unwind/rows/expression_writer.h"

namespace whocall {

ChainRow::ChainRow(const Architecture& arch) {
  if (!arch.frame.chain) {
    return;
  }
  const FrameChain& chain = *arch.frame.chain;
  UnwindRow row;
  row.return_address = arch.registers.return_address;
  if (chain.kind == FrameChain::Kind::frame_record) {
    ExpressionWriter link(arena_, arch.abi.endian);
    link.base(chain.base, chain.link_offset).deref();
    row.cfa = CfaRule{CfaRule::Kind::expression, 0, 0, link.view()};
    ExpressionWriter back(arena_, arch.abi.endian);
    back.base(chain.base, chain.return_address_offset);
    row.rules = {{row.return_address, RegisterRule::stored_at(back.view())},
                 {chain.base, RegisterRule::cfa_plus(0)}};
    row_ = std::move(row);
    return;
  }
  row.rules = {{row.return_address,
                RegisterRule::stored_at_cfa(chain.return_address_offset - chain.cfa_offset)}};
  if (chain.kind == FrameChain::Kind::frame_pointer) {
    row.cfa = CfaRule::at(chain.base, chain.cfa_offset);
    row.rules.push_back(
        {chain.base, RegisterRule::stored_at_cfa(chain.link_offset - chain.cfa_offset)});
  } else {
    ExpressionWriter writer(arena_, arch.abi.endian);
    writer.base(chain.base, chain.link_offset).deref().plus(chain.cfa_offset);
    row.cfa = CfaRule{CfaRule::Kind::expression, 0, 0, writer.view()};
    row.rules.push_back({chain.base, RegisterRule::cfa_plus(-chain.cfa_offset)});
  }
  row_ = std::move(row);
}

UnwindRow row_of_return_slot(const Architecture& arch, std::int64_t distance, std::int64_t to_cfa) {
  UnwindRow row;
  row.cfa = CfaRule::at(arch.registers.sp, distance + to_cfa);
  row.return_address = arch.registers.return_address;
  row.rules.push_back({row.return_address, RegisterRule::stored_at_cfa(-to_cfa)});
  return row;
}

UnwindRow row_of_linked_slot(const Architecture& arch, const Activation& callee,
                             const Memory& memory, std::int64_t distance) {
  using Kind = FrameChain::Kind;
  UnwindRow row = row_of_return_slot(arch, distance, arch.cfa_above_return_slot());
  const auto& chain = arch.frame.chain;
  if (chain && chain->kind == Kind::frame_pointer) {
    row.rules.push_back(
        {chain->base, RegisterRule::stored_at_cfa(chain->link_offset - chain->cfa_offset)});
  }
  const auto sp = callee.registers.get(arch.registers.sp);
  if (!sp || !chain || chain->kind != Kind::frame_record) {
    return row;
  }
  const Address slot = *sp + static_cast<Address>(distance);
  const auto link = memory.read_unsigned(
      slot + static_cast<Address>(chain->link_offset - chain->return_address_offset),
      arch.registers.size, arch.abi.endian);
  if (link && *link > slot && *link % arch.abi.call_alignment == 0) {
    const auto to_link = static_cast<std::int64_t>(*link - *sp);
    row.cfa = CfaRule::at(arch.registers.sp, to_link);
    row.rules = {{row.return_address, RegisterRule::stored_at_cfa(distance - to_link)},
                 {chain->base, RegisterRule::cfa_plus(0)}};
  }
  return row;
}

}  // namespace whocall
