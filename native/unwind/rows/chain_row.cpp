#include "unwind/rows/chain_row.h"

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

UnwindRow row_of_return_slot(const Architecture& arch, std::int64_t distance, bool with_link) {
  const std::int64_t to_cfa = arch.cfa_above_return_slot();
  UnwindRow row;
  row.cfa = CfaRule::at(arch.registers.sp, distance + to_cfa);
  row.return_address = arch.registers.return_address;
  row.rules.push_back({row.return_address, RegisterRule::stored_at_cfa(-to_cfa)});
  const auto& chain = arch.frame.chain;
  if (with_link && chain && chain->kind == FrameChain::Kind::frame_pointer) {
    row.rules.push_back(
        {chain->base, RegisterRule::stored_at_cfa(chain->link_offset - chain->cfa_offset)});
  }
  return row;
}

UnwindRow row_of_frame_record(const Architecture& arch, std::int64_t distance, std::int64_t link) {
  UnwindRow row;
  row.cfa = CfaRule::at(arch.registers.sp, link);
  row.return_address = arch.registers.return_address;
  row.rules = {{row.return_address, RegisterRule::stored_at_cfa(distance - link)},
               {arch.frame.chain->base, RegisterRule::cfa_plus(0)}};
  return row;
}

}  // namespace whocall
