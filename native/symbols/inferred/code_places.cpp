#include "symbols/inferred/code_places.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "arch/instruction.h"
#include "base/interrupt.h"
#include "object/call_frame_info.h"
#include "object/elf_decoder.h"
#include "object/elf_imports.h"
#include "object/mini_debug_info.h"
#include "symbols/inferred/constant_arguments.h"
#include "symbols/inferred/held_constants.h"
#include "symbols/inferred/message_text.h"

namespace whocall {
namespace {

using Flow = Instruction::Flow;

constexpr std::uint64_t kMostCode = std::uint64_t{1} << 18U;  // bytes of one function
constexpr std::size_t kMostCodePlaces = 4096;                 // of one function
constexpr std::size_t kMostSteps = 100'000;                   // instructions of one function
constexpr std::size_t kMostParts = 64;                        // of one function
constexpr std::size_t kMostBranches = 16;                     // that lead to one place
constexpr unsigned kFarthestCall = 24;  // instructions behind the one that names the place
constexpr std::int64_t kMostSourceLines = 1000000;

// They take a path of a file and flags: no place.
constexpr std::array<std::string_view, 10> kTakePaths = {"open",  "open64",  "openat", "openat64",
                                                         "creat", "creat64", "access", "chmod",
                                                         "mkdir", "mknod"};

struct Step {
  Address at = 0;
  Address end = 0;
  Flow flow = Flow::next;
  Address target = 0;  // of a direct jump or branch; 0: none
};

bool goes_on(Flow flow) {
  return flow == Flow::next || flow == Flow::branch || flow == Flow::branch_if_unequal ||
         flow == Flow::call;
}

class PlaceReader {
 public:
  PlaceReader(const ElfFile& file, const Architecture& arch,
              const std::vector<AddressRange>& ranges, const PanicPlaces& panics)
      : file_(file),
        arch_(arch),
        ranges_(ranges),
        panics_(panics),
        decoder_(decoder_for(file, arch)) {
    std::ranges::sort(ranges_, {}, &AddressRange::begin);
  }

  std::vector<CodePlace> run() {
    if (decoder_ == nullptr || !find_constants()) {
      return {};
    }
    for (const AddressRange& range : ranges_) {
      decode(range);
    }
    for (std::size_t i = 0; i < steps_.size() && places_.size() < kMostCodePlaces; ++i) {
      read(i);
    }
    std::ranges::stable_sort(places_, {}, &CodePlace::at);
    return std::move(places_);
  }

 private:
  // Whether any of it is a place, or the path of a source file.
  bool find_constants() {
    bool any = false;
    for (const AddressRange& range : ranges_) {
      any = !panics_.in(range).empty() || any;
      for (const ConstantAddress& each : constant_addresses(file_, arch_, range, range)) {
        constants_.emplace(each.at, each);
        any = any || is_source_path(text_at(each.value));
      }
    }
    if (any && arch_.code.callee) {
      imports_ = imported_functions(file_);
    }
    return any;
  }

  [[nodiscard]] std::string_view text_at(Address address) const {
    const ByteView bytes = file_.at(address);
    const auto near = bytes.slice(0, std::min(bytes.size(), kLongestMessageText));
    return near ? near->c_string(0).value_or(std::string_view()) : std::string_view();
  }

  void decode(const AddressRange& range) {
    std::uint64_t left = std::min(range.size(), kMostCode);
    for (Address at = range.begin; at < range.begin + left;) {
      check_interrupt_at(steps_.size(), kManyEntries);
      const ByteView code = file_.at(at);
      if (code.empty() || steps_.size() >= kMostSteps) {
        break;
      }
      const auto instruction = decoder_->decode(code, at);
      const Address end = at + (instruction ? instruction->size : arch_.code.alignment);
      Step step{at, end, instruction ? instruction->flow : Flow::stop, 0};
      if (instruction && instruction->target && step.flow != Flow::call) {
        step.target = *instruction->target;
        std::vector<Address>& sources = jumps_[step.target];
        if (sources.size() < kMostBranches) {
          sources.push_back(at);
        }
      }
      steps_.push_back(step);
      at = end;
    }
  }

  void read(std::size_t index) {
    const Step& step = steps_[index];
    enter(index);
    const auto instruction = decoder_->decode(file_.at(step.at), step.at);
    if (!instruction) {
      return;
    }
    for (const Effect& effect : instruction->list()) {
      held_->apply(effect);
      take_number(effect, step.at);
    }
    const auto [first, last] = constants_.equal_range(step.at);
    for (auto each = first; each != last; ++each) {
      held_->take(each->second);
    }
    for (const PanicPlace& place : panics_.in({step.at, step.at + 1})) {
      add_panic(place, index);
    }
    if (step.flow == Flow::call || (step.flow == Flow::jump && leaves(step.target))) {
      add_call(step, *instruction);
    }
    if (step.flow == Flow::call) {
      held_->call();
      reached_from_.clear();
    }
  }

  // What is known at the beginning of an instruction: nothing where the one before does not go on.
  void enter(std::size_t index) {
    const bool follows =
        index != 0 && steps_[index - 1].end == steps_[index].at && goes_on(steps_[index - 1].flow);
    if (!follows) {
      held_.emplace(arch_);
      reached_from_.clear();
    }
    if (const auto found = jumps_.find(steps_[index].at); found != jumps_.end()) {
      reached_from_.insert(reached_from_.end(), found->second.begin(), found->second.end());
      reached_from_.resize(std::min(reached_from_.size(), kMostBranches));
    }
  }

  // What decoders do not follow, but the instruction names: mov edx, 123.
  void take_number(const Effect& effect, Address at) {
    if (effect.kind != Effect::Kind::clobber && effect.kind != Effect::Kind::store_other) {
      return;
    }
    const auto operation = decoder_->operation(file_.at(at), at);
    if (!operation || operation->operands.empty() || operation->operands.size() > 2 ||
        operation->operands.back().kind != Operand::Kind::immediate) {
      return;
    }
    if (operation->mnemonic.starts_with("mov") || operation->mnemonic.starts_with("push")) {
      held_->take_number(effect, operation->operands.back().value);
    }
  }

  [[nodiscard]] bool leaves(Address target) const {
    return std::ranges::none_of(ranges_,
                                [&](const AddressRange& each) { return each.contains(target); });
  }

  void add_panic(const PanicPlace& place, std::size_t index) {
    add({.at = place.at,
         .call = call_behind(index),
         .file = panics_.files[place.file],
         .line = place.line,
         .column = place.column,
         .is_rust = true,
         .is_shared = panics_.is_shared(place, ranges_)});
  }

  // The next call that the flow comes to without a decision.
  [[nodiscard]] AddressRange call_behind(std::size_t index) const {
    for (unsigned i = 0; i < kFarthestCall && index < steps_.size(); ++i) {
      const Step& step = steps_[index];
      if (step.flow == Flow::call) {
        return {step.at, step.end};
      }
      if (step.flow == Flow::next) {
        ++index;
      } else if (step.flow == Flow::jump) {
        const auto found = std::ranges::lower_bound(steps_, step.target, {}, &Step::at);
        index = found != steps_.end() && found->at == step.target
                    ? static_cast<std::size_t>(found - steps_.begin())
                    : steps_.size();
      } else {
        break;
      }
    }
    return {};
  }

  void add_call(const Step& step, const Instruction& instruction) {
    for (unsigned at = 0; at + 1 < kMostConstantArguments; ++at) {
      const Address path = held_->argument(at);
      if (path == 0 || !is_source_path(text_at(path))) {
        continue;
      }
      const auto line = line_behind(at);
      if (line && !takes_paths(instruction)) {
        add({.at = step.at,
             .call = {step.at, step.flow == Flow::call ? step.end : step.at},
             .file = std::string(text_at(path)),
             .line = *line});
      }
      return;
    }
  }

  // A number right behind the path or, as glibc 2.43 has it, its digits.
  [[nodiscard]] std::optional<std::uint32_t> line_behind(unsigned at) const {
    if (const auto number = held_->number(at + 1)) {
      return *number > 0 && *number < kMostSourceLines
                 ? std::optional(static_cast<std::uint32_t>(*number))
                 : std::nullopt;
    }
    const Address digits = held_->argument(at + 1);
    const std::string_view text = digits != 0 ? text_at(digits) : std::string_view();
    std::uint32_t line = 0;
    for (const char each : text) {
      if (each < '0' || each > '9' || line > kMostSourceLines / 10) {
        return std::nullopt;
      }
      line = 10 * line + static_cast<std::uint32_t>(each - '0');
    }
    return line != 0 ? std::optional(line) : std::nullopt;
  }

  // Of the files that are given to them, no function is.
  [[nodiscard]] bool takes_paths(const Instruction& instruction) {
    if (!instruction.target) {
      return false;
    }
    if (imports_.empty()) {
      imports_ = imported_functions(file_);
    }
    const Address target = *instruction.target;
    const auto stub = arch_.linkage.stub_at(file_.at(target), target);
    const auto import = stub && stub->slot ? imports_.find(*stub->slot) : imports_.end();
    return import != imports_.end() &&
           std::ranges::find(kTakePaths, import->second) != kTakePaths.end();
  }

  void add(CodePlace place) {
    place.reached_from = reached_from_;
    if (place.reached_from.empty()) {
      place.reached_from.push_back(place.at);
    }
    std::ranges::sort(place.reached_from);
    places_.push_back(std::move(place));
  }

  const ElfFile& file_;
  const Architecture& arch_;
  std::vector<AddressRange> ranges_;  // ascending
  const PanicPlaces& panics_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::optional<HeldConstants> held_;
  std::multimap<Address, ConstantAddress> constants_;  // by instruction
  std::unordered_map<Address, std::string_view> imports_;
  std::vector<Step> steps_;                                  // ascending
  std::unordered_map<Address, std::vector<Address>> jumps_;  // by target
  std::vector<Address> reached_from_;                        // of the present stretch of code
  std::vector<CodePlace> places_;
};

}  // namespace

std::vector<CodePlace> code_places(const ElfFile& file, const Architecture& arch,
                                   const std::vector<AddressRange>& ranges,
                                   const PanicPlaces& panics) {
  return PlaceReader(file, arch, ranges, panics).run();
}

AddressRange delimited_at(const ElfFile& file, Address address) {
  for (const CallFrameInfo* info : frame_tables_of(file)) {
    if (const auto fde = info != nullptr ? info->find(address) : std::nullopt) {
      return fde->range;
    }
  }
  return {};
}

std::vector<AddressRange> ranges_of_function(const ElfFile& file, const Architecture& arch,
                                             AddressRange function) {
  std::vector<AddressRange> ranges = {function};
  const auto decoder = decoder_for(file, arch);
  const std::uint64_t size = std::min(function.size(), kMostCode);
  for (Address at = function.begin; decoder != nullptr && at < function.begin + size;) {
    const ByteView code = file.at(at);
    if (code.empty()) {  // a list of names told of code that no file has
      break;
    }
    const auto instruction = decoder->decode(code, at);
    check_interrupt_at(at, kManyEntries);
    at += instruction ? instruction->size : arch.code.alignment;
    const bool branches = instruction && (instruction->flow == Flow::branch ||
                                          instruction->flow == Flow::branch_if_unequal);
    if (!branches || !instruction->target || ranges.size() > kMostParts) {
      continue;
    }
    const Address target = *instruction->target;
    const bool is_known = std::ranges::any_of(
        ranges, [&](const AddressRange& each) { return each.contains(target); });
    const AddressRange part = is_known ? AddressRange() : delimited_at(file, target);
    if (!part.empty() && !part.contains(function.begin)) {
      ranges.push_back(part);
    }
  }
  return ranges;
}

}  // namespace whocall
