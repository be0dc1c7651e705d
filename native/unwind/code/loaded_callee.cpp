#include "unwind/code/loaded_callee.h"

#include <elf.h>

#include <algorithm>
#include <vector>

#include "arch/instruction.h"
#include "object/global_table.h"

namespace whocall {
namespace {

constexpr Address kLookedAt = 256;  // bytes before the call

class Tracker {
 public:
  Tracker(const ProcessImage& process, const Module& module)
      : process_(process), module_(module), code_(process.arch->code) {}

  // Of the code in `range` (link addresses), which ends behind the call.
  std::optional<Address> callee(AddressRange range) const {
    const auto bytes = module_.file->at(range.begin).slice(0, range.size());
    const auto decoder = decoder_for(*process_.arch);
    if (!bytes || decoder == nullptr || code_.append_constant_addresses == nullptr) {
      return std::nullopt;
    }
    std::vector<ConstantAddress> constants;
    code_.append_constant_addresses(*bytes, range.begin, global_table(*module_.file),
                                    module_.file->type() == ET_EXEC, module_.file->load_range(),
                                    constants);
    std::optional<ConstantAddress> held;
    for (Address at = range.begin; at < range.end;) {
      const auto instruction = decoder->decode(bytes->from(at - range.begin), at);
      const Address size = instruction ? instruction->size : code_.alignment;
      if (at + size >= range.end) {
        break;
      }
      if (!instruction || !keeps(*instruction)) {
        held.reset();
      }
      for (const ConstantAddress& each : constants) {
        if (each.at == at && each.destination == code_.callee) {
          held = each;
        }
      }
      at += size;
    }
    return held ? target_of(*held) : std::nullopt;
  }

 private:
  // Whether the register is as it was behind it.
  [[nodiscard]] bool keeps(const Instruction& instruction) const {
    return (instruction.flow == Instruction::Flow::next ||
            instruction.flow == Instruction::Flow::branch) &&
           std::ranges::none_of(instruction.list(), [&](const Effect& effect) {
             const bool stores = effect.kind == Effect::Kind::store ||
                                 effect.kind == Effect::Kind::store_other ||
                                 effect.kind == Effect::Kind::compare;
             return !stores && effect.destination == *code_.callee;
           });
  }

  [[nodiscard]] std::optional<Address> target_of(const ConstantAddress& held) const {
    return held.slot ? process_.code_pointer_at(module_.runtime_address(*held.slot))
                     : std::optional(module_.runtime_address(held.value));
  }

  const ProcessImage& process_;
  const Module& module_;
  const CodeModel& code_;
};

}  // namespace

std::optional<Address> loaded_callee(const ProcessImage& process, Address return_address) {
  const Module* module = process.module_at(return_address - 1);
  if (!process.arch->code.callee || module == nullptr || module->file == nullptr) {
    return std::nullopt;
  }
  const Address end = module->link_address(return_address);
  const Address before = std::min(kLookedAt, end - module->file->load_range().begin);
  return Tracker(process, *module).callee({end - before, end});
}

}  // namespace whocall
