#include "symbols/inferred/constant_arguments.h"

#include <elf.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "arch/instruction.h"
#include "object/elf_dynamic.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

// Between taking an address and the call that gets it stand the other arguments, seldom more.
constexpr unsigned kMostInstructions = 24;
// Of one stretch with many constants, which may be a loop.
constexpr unsigned kMostOfAll = 256;

// From the first to the last byte of what the process cannot write, code included.
AddressRange read_only_range(const ElfFile& file) {
  AddressRange range{~Address{0}, 0};
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type == PT_LOAD && (segment.flags & PF_W) == 0 && segment.file_size != 0) {
      range.begin = std::min(range.begin, segment.address);
      range.end = std::max(range.end, segment.address + segment.file_size);
    }
  }
  return range;
}

Address data_base_of(const ElfFile& file) {
  return ElfDynamic(file).value(DT_PLTGOT).value_or(0);  // 0 where the file has none
}

void append_references(const ElfFile& file, const Architecture& arch, const AddressRange& range,
                       Address data_base, std::vector<ConstantAddress>& found) {
  const ByteView code = file.at(range.begin);
  const auto inside = code.slice(0, std::min<std::uint64_t>(range.size(), code.size()));
  if (inside) {
    arch.code.append_constant_addresses(*inside, range.begin, data_base, read_only_range(file),
                                        found);
  }
}

// Which registers and words of the stack hold which constants.
class Constants {
 public:
  explicit Constants(const Architecture& arch) : arch_(arch) {}

  [[nodiscard]] bool none() const { return registers_.empty() && words_.empty(); }

  void apply(const Effect& effect) {
    switch (effect.kind) {
      case Effect::Kind::set:
        set(effect);
        break;
      case Effect::Kind::constant:
      case Effect::Kind::add:
      case Effect::Kind::subtract:
      case Effect::Kind::load:
      case Effect::Kind::clobber:
        registers_.erase(effect.destination);
        break;
      case Effect::Kind::store:
      case Effect::Kind::store_other:
        store(effect);
        break;
      case Effect::Kind::compare:
        break;
    }
  }

  void take(const ConstantAddress& constant) {
    if (constant.destination) {
      registers_[*constant.destination] = constant.value;
    } else {
      words_[sp_ + constant.offset] = constant.value;
    }
  }

  [[nodiscard]] Address argument(unsigned position) const {
    if (arch_.registers.arguments.empty()) {
      return find(words_, sp_ + std::int64_t{position} * arch_.abi.pointer_size);
    }
    return position < arch_.registers.arguments.size()
               ? find(registers_, arch_.registers.arguments[position])
               : 0;
  }

  // What a call leaves: the words of the arguments are the callee's.
  void call() {
    words_.clear();
    std::erase_if(registers_, [&](const auto& each) {
      return std::ranges::find(arch_.registers.callee_saved, each.first) ==
             arch_.registers.callee_saved.end();
    });
  }

 private:
  template <typename Map>
  static Address find(const Map& map, typename Map::key_type key) {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
  }

  void set(const Effect& effect) {
    if (effect.destination == arch_.registers.sp) {
      if (effect.source == arch_.registers.sp) {
        sp_ += effect.offset;
      } else {
        words_.clear();
      }
      return;
    }
    const Address value = effect.offset == 0 ? find(registers_, effect.source) : 0;
    if (value != 0) {
      registers_[effect.destination] = value;
    } else {
      registers_.erase(effect.destination);
    }
  }

  void store(const Effect& effect) {
    if (effect.destination != arch_.registers.sp) {
      return;
    }
    const Address value = effect.kind == Effect::Kind::store ? find(registers_, effect.source) : 0;
    if (value != 0) {
      words_[sp_ + effect.offset] = value;
    } else {
      words_.erase(sp_ + effect.offset);
    }
  }

  const Architecture& arch_;
  std::map<Register, Address> registers_;
  std::map<std::int64_t, Address> words_;  // by distance from sp at the beginning
  std::int64_t sp_ = 0;
};

class Reader {
 public:
  Reader(const ElfFile& file, const Architecture& arch, const FunctionStarts* starts,
         const std::function<bool(Address)>& of_interest)
      : file_(file),
        arch_(arch),
        starts_(starts),
        of_interest_(of_interest),
        got_(data_base_of(file)),
        decoder_(arch.code.make_decoder()) {}

  std::vector<ConstantCall> run() {
    find_references();
    for (std::size_t i = 0; i < references_.size(); ++i) {
      if (!seen_[i] && of_interest_(references_[i].value)) {
        follow(references_[i].at);
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

  void follow(Address at) {
    const auto function = function_at(at);
    Constants constants(arch_);
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
                               const AddressRange& function, Constants& constants) {
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
    if (stub && stub->slot_behind_got && got_ != 0) {
      return (got_ + *stub->slot_behind_got) & arch_.address_mask();
    }
    return stub ? stub->slot : std::nullopt;
  }

  void add(Address at, const Instruction& instruction, const AddressRange& function,
           const Constants& constants) {
    ConstantCall call{.site = at, .function = function.begin};
    const auto callee = callee_of(at, instruction);
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

  std::optional<Address> callee_of(Address at, const Instruction& instruction) const {
    if (instruction.target) {
      const auto slot = slot_of(*instruction.target);
      return slot ? slot : instruction.target;
    }
    const auto bytes = file_.at(at).slice(0, instruction.size);
    const auto call = bytes ? arch_.code.call_before(*bytes, at + instruction.size) : std::nullopt;
    return call ? call->slot : std::nullopt;
  }

  const ElfFile& file_;
  const Architecture& arch_;
  const FunctionStarts* starts_;  // null: every jump may be a tail call
  const std::function<bool(Address)>& of_interest_;
  Address got_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::vector<ConstantAddress> references_;  // ascending by place
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
    append_references(file, arch, with_surroundings(area, part), data_base_of(file), found);
    std::erase_if(found, [&](const ConstantAddress& each) { return !part.contains(each.at); });
  }
  return found;
}

}  // namespace whocall
