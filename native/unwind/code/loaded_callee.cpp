#include "unwind/code/loaded_callee.h"

#include <elf.h>

#include <algorithm>
#include <vector>

#include "arch/instruction.h"
#include "object/global_offset_table.h"

namespace whocall {
namespace {

constexpr Address kLookedAt = 256;  // bytes before the call

class Tracker {
 public:
  Tracker(const ProcessImage& process, const Module& module)
      : process_(process), module_(module), code_(process.arch->code) {}

  // Of the code in `range` (link addresses), which ends behind the call.
  std::vector<Address> callees(AddressRange range) {
    const auto bytes = module_.file->at(range.begin).slice(0, range.size());
    const auto decoder = decoder_for(*process_.arch);
    if (!bytes || decoder == nullptr || code_.append_constant_addresses == nullptr) {
      return {};
    }
    std::vector<ConstantAddress> constants;
    code_.append_constant_addresses(*bytes, range.begin, global_table(*module_.file),
                                    module_.file->type() == ET_EXEC, module_.file->load_range(),
                                    constants);
    for (Address at = range.begin; at < range.end;) {
      const auto instruction = decoder->decode(bytes->from(at - range.begin), at);
      const Address size = instruction ? instruction->size : code_.alignment;
      if (at + size >= range.end) {
        break;
      }
      step(at, instruction, constants);
      at += size;
    }
    return targets(range.end);
  }

 private:
  using Flow = Instruction::Flow;
  struct Jump {
    Address target = 0;  // link address
    ConstantAddress held;
  };

  // A jump is one unit with what stands in its delay slot.
  void step(Address at, const std::optional<Instruction>& instruction,
            const std::vector<ConstantAddress>& constants) {
    const auto set = std::ranges::find_if(constants, [&](const ConstantAddress& each) {
      return each.at == at && each.destination == code_.callee;
    });
    const Flow flow = instruction ? instruction->flow : Flow::stop;
    const bool goes_on = flow == Flow::next || flow == Flow::branch;
    const bool jumps = (flow == Flow::branch || flow == Flow::jump) && instruction->target;
    const bool is_set = set != constants.end();
    const bool is_lost = !is_set && ((!goes_on && !jumps) || writes_register(*instruction));
    if (is_set) {
      held_ = *set;
    } else if (is_lost) {
      held_.reset();
    }
    if (jumps && held_) {
      jumps_.push_back({*instruction->target, *held_});
    }
    if (!goes_on) {
      held_.reset();
    }
    if (is_set || is_lost || !goes_on) {
      changed_ = at;
    }
  }

  [[nodiscard]] bool writes_register(const Instruction& instruction) const {
    return std::ranges::any_of(instruction.list(), [&](const Effect& effect) {
      const bool stores = effect.kind == Effect::Kind::store ||
                          effect.kind == Effect::Kind::store_other ||
                          effect.kind == Effect::Kind::compare;
      return !stores && effect.destination == *code_.callee;
    });
  }

  // What the register may hold at the call: as the code goes on to it, and as jumps lead to behind
  // the last place that changes it.
  [[nodiscard]] std::vector<Address> targets(Address end) const {
    std::vector<Address> found;
    const auto add = [&](const ConstantAddress& held) {
      if (const auto target = target_of(held)) {
        found.push_back(*target);
      }
    };
    if (held_) {
      add(*held_);
    }
    for (const Jump& jump : jumps_) {
      if (jump.target > changed_ && jump.target < end) {
        add(jump.held);
      }
    }
    return found;
  }

  [[nodiscard]] std::optional<Address> target_of(const ConstantAddress& held) const {
    return held.slot ? process_.code_pointer_at(module_.runtime_address(*held.slot))
                     : std::optional(module_.runtime_address(held.value));
  }

  const ProcessImage& process_;
  const Module& module_;
  const CodeModel& code_;
  std::optional<ConstantAddress> held_;  // by the register, behind what was looked at
  Address changed_ = 0;                  // the last instruction that changed it; a link address
  std::vector<Jump> jumps_;
};

}  // namespace

std::vector<Address> loaded_callees(const ProcessImage& process, Address return_address) {
  const Module* module = process.module_at(return_address - 1);
  if (!process.arch->code.callee || module == nullptr || module->file == nullptr) {
    return {};
  }
  const Address end = module->link_address(return_address);
  const Address before = std::min(kLookedAt, end - module->file->load_range().begin);
  return Tracker(process, *module).callees({end - before, end});
}

}  // namespace whocall
