#include "arguments/code_values.h"

#include <algorithm>

#include "process/process_decoder.h"
#include "unwind/code/call_site.h"

namespace whocall {
namespace {

// Bytes of code that are read for the frames of a process. On the stacks of a large program stand
// functions of some 100,000; code that was made to take long is read at a megabyte a second.
constexpr std::uint64_t kMostCode = std::uint64_t{2} << 20U;
constexpr int kDeepestCall = 3;     // of functions that hand on what they got
constexpr int kDeepestWritten = 4;  // of functions whose writing of registers is looked for
constexpr std::uint64_t kLargestWritten = 512;  // bytes of such a one
constexpr std::uint64_t kLargestAsked = 1024;   // bytes of one that arguments are handed on to

// Counts how deep questions are nested, also where somebody interrupts one.
class Nested {
 public:
  explicit Nested(int& depth) : depth_(depth) { ++depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  ~Nested() { --depth_; }

 private:
  int& depth_;
};

}  // namespace

CodeValues::CodeValues(Walker& walker) : walker_(walker) {}

CodeValues::~CodeValues() = default;

bool CodeValues::usable() {
  if (reader_ == nullptr && arch().code.make_value_reader != nullptr) {
    reader_ = arch().code.make_value_reader([this](Address address, std::span<std::byte> out) {
      return process().memory->read(address, out);
    });
    decoder_ = decoder_for(process());
  }
  return reader_ != nullptr && decoder_ != nullptr;
}

FunctionValues* CodeValues::function_at(Address pc, bool entered) {
  const auto range = walker_.code().function_at(pc);
  if (!range || !usable()) {
    return nullptr;
  }
  auto& known = functions_[{range->begin, entered}];
  if (known == nullptr) {
    read_ += range->size() <= FunctionValues::kLargestFollowed ? range->size() : 0;
    if (read_ > kMostCode) {
      return nullptr;
    }
    known =
        std::make_unique<FunctionValues>(process(), walker_.analyser(), *reader_, *range, entered,
                                         [this](Address target) { return written_by(target); });
  }
  return known->is_known() ? known.get() : nullptr;
}

// Folklore. Situation: a function jumps into its cold part, whose registers hold whatever the
// function left there. Remedy: parts stand nowhere in particular; functions are aligned, or begin
// as functions do (without optimization compilers align none), and with no frame made.
bool CodeValues::may_be_entered(Address start) {
  std::vector<std::byte> room;
  const auto code = process().memory->bytes_at(start, kLongestLook, room);
  const auto features = arch().code.features_at_start(ByteView(code, arch().abi.endian), 0);
  return start % arch().code.function_alignment == 0 || features.landing_pad || features.prologue ||
         walker_.code().is_called(start);
}

// Folklore. Situation: nobody calls a function, and its start is not found. Example: a function of
// ARM that one other jumps to, behind the constants of the function before it. Remedy: what is
// entered behind its first byte is no function with the arguments that the code there takes.
bool CodeValues::leads_inside(Address called, const AddressRange& function) {
  const auto inside = [&](Address address) {
    return address != function.begin && function.contains(address);
  };
  if (inside(called)) {
    return true;
  }
  const FunctionValues* const jumping = function_at(called, true);
  return jumping != nullptr && jumping->range().begin == called && called != function.begin &&
         std::ranges::any_of(jumping->steps(), [&](const FunctionValues::Step& step) {
           return step.flow != Instruction::Flow::call && step.target && inside(*step.target);
         });
}

WrittenRegisters CodeValues::written_by(Address target) {
  const WrittenRegisters any = WrittenRegisters().set();
  const auto known = written_.find(target);
  if (known != written_.end()) {
    return known->second;
  }
  const auto range = walker_.code().function_at(target);
  if (calls_ >= kDeepestWritten || read_ > kMostCode || !range || range->begin != target ||
      range->size() > kLargestWritten || walker_.code().linkage_table_at(target)) {
    return any;
  }
  written_.emplace(target, any);  // for what calls itself
  read_ += range->size();
  const Nested nested(calls_);
  const WrittenRegisters all = written_in(*range);
  written_[target] = all;
  return all;
}

// Of all instructions from front to back: more than what runs writes no less.
WrittenRegisters CodeValues::written_in(const AddressRange& range) {
  WrittenRegisters all;
  std::vector<std::byte> code(range.size());
  code.resize(process().memory->read(range.begin, code));
  const ByteView bytes(code, arch().abi.endian);
  std::uint64_t at = 0;
  while (at < bytes.size() && !all.all()) {
    const auto step = decoder_->decode(bytes.from(at), range.begin + at);
    const auto values = step ? reader_->read(bytes.from(at), range.begin + at) : std::nullopt;
    if (!values || step->flow == Instruction::Flow::indirect_jump) {
      return all.set();
    }
    const bool leaves = step->target && !range.contains(*step->target);
    if (step->flow == Instruction::Flow::call) {
      all |= leaves ? written_by(*step->target) : WrittenRegisters().set();
    } else if (leaves) {
      all.set();
    }
    for (const ValueWrite& write : values->writes) {
      if (write.destination && *write.destination < kRegisterLimit) {
        all.set(*write.destination);
      }
    }
    at += step->size;
  }
  return all;
}

const Parameters* CodeValues::parameters_at(Address start) {
  const auto known = parameters_.find({start, depth_});
  if (known != parameters_.end()) {
    return known->second ? &*known->second : nullptr;
  }
  FunctionValues* const function = function_at(start, true);
  std::optional<Parameters> found;
  if (function != nullptr && function->range().begin == start &&
      (depth_ == 0 || function->range().size() <= kLargestAsked) && function->is_followed()) {
    const Nested nested(depth_);
    found = parameters_of(*function, process(), *this);
  }
  const auto& kept = parameters_.emplace(std::pair(start, depth_), std::move(found)).first->second;
  return kept ? &*kept : nullptr;
}

const Parameters* CodeValues::taken_at(const FunctionValues::Step& call, Address next) {
  if (depth_ > kDeepestCall) {
    return nullptr;
  }
  const auto site = call.flow == Instruction::Flow::call
                        ? call_before(process(), next)
                        : std::optional(CallSite{.target = call.target});
  const auto target = site ? walker_.judge().final_target(*site) : std::nullopt;
  return target ? parameters_at(*target) : nullptr;
}

}  // namespace whocall
