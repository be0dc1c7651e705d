#include "unwind/analysis/linkage_table.h"

namespace whocall {

std::vector<FunctionExit> linkage_table_entries(ByteView code, Address begin, Address table,
                                                std::uint64_t slot_size, const Architecture& arch,
                                                InstructionDecoder& decoder) {
  std::vector<FunctionExit> entries;
  constexpr std::uint64_t kLongestHead = 32;  // bytes: slot 0 where it saves the link register
  const bool keeps_link = arch.registers.link.has_value();
  const AbstractState called(arch);
  AbstractState with_index = called;
  with_index.apply({Effect::Kind::set, arch.registers.sp, arch.registers.sp,
                    -std::int64_t{arch.linkage.pushed_by_slot}});
  for (Address slot = begin; slot - begin < code.size(); slot += slot_size) {
    if (slot == table) {
      entries.push_back({slot, with_index});
      continue;
    }
    if (keeps_link && slot - table < kLongestHead) {
      continue;
    }
    entries.push_back({slot, called});
    const auto jump = decoder.decode(code.from(slot - begin), slot);
    if (jump && jump->flow == Instruction::Flow::indirect_jump && jump->size < slot_size) {
      entries.push_back({slot + jump->size, called});
    }
  }
  return entries;
}

}  // namespace whocall
