#include "unwind/linkage_table.h"

namespace whocall {

std::vector<FunctionExit> linkage_table_entries(ByteView code, const AddressRange& table,
                                                std::uint64_t slot_size, const Architecture& arch,
                                                InstructionDecoder& decoder) {
  std::vector<FunctionExit> entries;
  const AbstractState called(arch);
  AbstractState with_index = called;
  with_index.apply({Effect::Kind::set, arch.sp, arch.sp, -std::int64_t{arch.pointer_size}});
  entries.push_back({table.begin, with_index});
  for (Address slot = table.begin + slot_size; slot < table.end; slot += slot_size) {
    entries.push_back({slot, called});
    const auto jump = decoder.decode(code.from(slot - table.begin), slot);
    if (jump && jump->flow == Instruction::Flow::indirect_jump && jump->size < slot_size) {
      entries.push_back({slot + jump->size, called});
    }
  }
  return entries;
}

}  // namespace whocall
