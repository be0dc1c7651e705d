#include "symbols/inferred/constant_arguments.h"

#include <elf.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "arch/instruction.h"
#include "object/elf_decoder.h"
#include "object/elf_imports.h"
#include "object/global_offset_table.h"
#include "symbols/inferred/held_constants.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

// Between taking an address and the call that gets it stand the other arguments, seldom more.
constexpr unsigned kMostInstructions = 24;
// Of one stretch with many constants, which may be a loop.
constexpr unsigned kMostOfAll = 256;

// From the first to the last byte of what the process cannot write, code included.
//
// Folklore. Situation: linkers put small constants beside small variables, where one register
// reaches both. Example: RISC-V's .srodata, __PRETTY_FUNCTION__ of a short function: addi
// a3,gp,-1968. Remedy: what the register reaches counts as well, as far as the file has it.
AddressRange constant_range(const ElfFile& file, const GlobalTable& got) {
  constexpr Address kReach = 0x800;  // bytes in front of the pointer and behind it
  AddressRange range{~Address{0}, 0};
  for (const ElfSegment& segment : file.segments()) {
    const bool is_constant = (segment.flags & PF_W) == 0;
    if (segment.type != PT_LOAD || segment.file_size == 0) {
      continue;
    }
    AddressRange part{segment.address, segment.address + segment.file_size};
    if (!is_constant && got.pointer) {
      part = {std::max(part.begin, *got.pointer - kReach),
              std::min(part.end, *got.pointer + kReach)};
    }
    if (is_constant || (got.pointer && !part.empty())) {
      range.begin = std::min(range.begin, part.begin);
      range.end = std::max(range.end, part.end);
    }
  }
  return range;
}

void append_references(const ElfFile& file, const Architecture& arch, const AddressRange& range,
                       const GlobalTable& got, std::vector<ConstantAddress>& found) {
  const ByteView code = file.at(range.begin);
  const auto inside = code.slice(0, std::min<std::uint64_t>(range.size(), code.size()));
  if (inside) {
    arch.code.append_constant_addresses(*inside, range.begin, got, file.type() == ET_EXEC,
                                        constant_range(file, got), found);
  }
}

class Reader {
 public:
  Reader(const ElfFile& file, const Architecture& arch, const FunctionStarts* starts,
         const std::function<bool(Address)>& of_interest)
      : file_(file),
        arch_(arch),
        starts_(starts),
        of_interest_(of_interest),
        got_(global_table(file)),
        decoder_(decoder_for(file, arch)) {
    if (arch.code.callee) {
      imports_ = imported_functions(file);
    }
  }

  std::vector<ConstantCall> run() {
    find_references();
    for (std::size_t i = 0; i < references_.size(); ++i) {
      if (!seen_[i] && of_interest_(references_[i].value)) {
        follow(first_for(i));
        if (!seen_[i]) {
          follow(references_[i].at);
        }
      }
    }
    return std::move(calls_);
  }

 private:
  void find_references() {
    for (const AddressRange& area : code_areas(file_)) {
      append_references(file_, arch_, area, got_, references_);
    }
    seen_.resize(references_.size());
  }

  // The index of the reference at `at`; a miss when there is none.
  std::optional<std::size_t> reference_at(Address at) const {
    const auto found = std::ranges::lower_bound(references_, at, {}, &ConstantAddress::at);
    return found != references_.end() && found->at == at
               ? std::optional<std::size_t>(found - references_.begin())
               : std::nullopt;
  }

  // Folklore. Situation: code loads the callee before the arguments. Example: on MIPS, lw
  // t9,%call16(__assert_fail)(gp) stands among the halves of addresses. Remedy: begin there.
  [[nodiscard]] Address first_for(std::size_t reference) const {
    constexpr Address kNear = 64;  // bytes
    const Address at = references_[reference].at;
    for (std::size_t i = reference; arch_.code.callee && i-- > 0;) {
      const ConstantAddress& before = references_[i];
      if (at - before.at > kNear) {
        break;
      }
      if (before.destination == arch_.code.callee) {
        return before.at;
      }
    }
    return at;
  }

  void follow(Address at) {
    const auto function = function_at(at);
    HeldConstants constants(arch_);
    bool straight = true;  // no jump since the beginning: what is passed need not be followed again
    unsigned steps = 0;    // since the last constant
    for (unsigned all = 0; function && steps < kMostInstructions && all < kMostOfAll; ++all) {
      const auto instruction = decoder_->decode(file_.at(at), at);
      if (!instruction) {
        return;
      }
      for (const Effect& effect : instruction->list()) {
        constants.apply(effect);
      }
      if (const auto reference = reference_at(at)) {
        constants.take(references_[*reference]);
        seen_[*reference] = seen_[*reference] || straight;
        steps = 0;
      } else {
        ++steps;
      }
      const auto next = go_on(at, *instruction, *function, constants);
      if (!next || constants.none()) {
        return;
      }
      const bool may_have_ended =
          starts_ == nullptr && instruction->flow == Instruction::Flow::jump;
      straight = straight && *next == at + instruction->size && !may_have_ended;
      at = *next;
    }
  }

  // Where the flow goes on behind an instruction, as far as it is followed.
  std::optional<Address> go_on(Address at, const Instruction& instruction,
                               const AddressRange& function, HeldConstants& constants) {
    const Address behind = at + instruction.size;
    switch (instruction.flow) {
      case Instruction::Flow::next:
      case Instruction::Flow::branch:
      case Instruction::Flow::branch_if_unequal:
        return behind;
      case Instruction::Flow::call:
        add(at, instruction, function, constants);
        constants.call();
        return behind;
      case Instruction::Flow::jump:
        if (starts_ == nullptr) {
          add(at, instruction, function, constants);
        } else if (is_tail_call(instruction, function)) {
          add(at, instruction, function, constants);
          return std::nullopt;
        }
        return instruction.target;
      case Instruction::Flow::indirect_jump:
      case Instruction::Flow::stop:
        break;
    }
    return std::nullopt;
  }

  // Without known starts it begins at the reference itself.
  [[nodiscard]] std::optional<AddressRange> function_at(Address at) const {
    return starts_ != nullptr ? starts_->function_at(at) : AddressRange{at, at};
  }

  // Cold parts are entered by jumps too, but not as functions are.
  [[nodiscard]] bool is_tail_call(const Instruction& jump, const AddressRange& function) const {
    return jump.target && !function.contains(*jump.target) &&
           (starts_->is_called(*jump.target) || slot_of(*jump.target));
  }

  // The word through which the stub at `target` jumps; a miss when there is no stub.
  [[nodiscard]] std::optional<Address> slot_of(Address target) const {
    const auto stub = arch_.linkage.stub_at(file_.at(target), target);
    if (stub && stub->slot_behind_got && got_.address != 0) {
      return (got_.address + *stub->slot_behind_got) & arch_.address_mask();
    }
    return stub ? stub->slot : std::nullopt;
  }

  void add(Address at, const Instruction& instruction, const AddressRange& function,
           const HeldConstants& constants) {
    ConstantCall call{.site = at, .function = function.begin};
    const auto callee = callee_of(at, instruction, constants);
    bool any = false;
    for (unsigned position = 0; position < kMostConstantArguments; ++position) {
      call.arguments.at(position) = constants.argument(position);
      any = any || (call.arguments.at(position) != 0 && of_interest_(call.arguments.at(position)));
    }
    if (callee && any) {
      call.callee = *callee;
      calls_.push_back(call);
    }
  }

  std::optional<Address> callee_of(Address at, const Instruction& instruction,
                                   const HeldConstants& constants) const {
    if (instruction.target) {
      const auto slot = slot_of(*instruction.target);
      return slot ? slot : instruction.target;
    }
    if (arch_.code.callee) {
      return callee_in(*arch_.code.callee, constants);
    }
    const auto bytes = file_.at(at).slice(0, instruction.size);
    const auto call = bytes ? arch_.code.call_before(*bytes, at + instruction.size) : std::nullopt;
    return call ? call->slot : std::nullopt;
  }

  // A word that another file's function is bound to stands for it; any other for what it holds.
  std::optional<Address> callee_in(Register number, const HeldConstants& constants) const {
    const Address slot = constants.slot_of(number);
    const Address callee = imports_.contains(slot) ? slot : constants.held_by(number);
    return callee != 0 ? std::optional(callee) : std::nullopt;
  }

  const ElfFile& file_;
  const Architecture& arch_;
  const FunctionStarts* starts_;  // null: every jump may be a tail call
  const std::function<bool(Address)>& of_interest_;
  GlobalTable got_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::unordered_map<Address, std::string_view> imports_;  // where a register holds callees
  std::vector<ConstantAddress> references_;                // ascending by place
  std::vector<bool> seen_;
  std::vector<ConstantCall> calls_;
};

}  // namespace

std::vector<ConstantCall> constant_calls(const ElfFile& file, const Architecture& arch,
                                         const FunctionStarts* starts,
                                         const std::function<bool(Address)>& of_interest) {
  if (arch.code.append_constant_addresses == nullptr || arch.code.make_decoder == nullptr ||
      arch.linkage.jump_stub == nullptr || arch.code.call_before == nullptr) {
    return {};
  }
  return Reader(file, arch, starts, of_interest).run();
}

AddressRange with_surroundings(const AddressRange& area, const AddressRange& part) {
  const Address before = std::min<Address>(part.begin - area.begin, kLongestLook);
  const Address behind = std::min<Address>(area.end - part.end, kLongestLook);
  return {part.begin - before, part.end + behind};
}

std::vector<ConstantAddress> constant_addresses(const ElfFile& file, const Architecture& arch,
                                                const AddressRange& area,
                                                const AddressRange& part) {
  std::vector<ConstantAddress> found;
  if (arch.code.append_constant_addresses != nullptr) {
    append_references(file, arch, with_surroundings(area, part), global_table(file), found);
    std::erase_if(found, [&](const ConstantAddress& each) { return !part.contains(each.at); });
  }
  return found;
}

}  // namespace whocall
