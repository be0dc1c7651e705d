#include "arch/arm/value_reader.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <utility>

#include "arch/arm/modes.h"
#include "arch/arm/value_steps.h"

namespace whocall::arm {
namespace {

// One instruction, as if its condition held.
struct One {
  ValueFlow flow{};
  std::uint16_t size = 0;  // bytes
  bool leaves = false;
  bool calls = false;
};

std::optional<One> read_t32_one(ByteView code, Address address) {
  One one;
  Instruction instruction;
  if (is_if_then(half_at(code, 0).value_or(0))) {  // inside of another one it is a hint
    one.size = 2;
    return one;
  }
  if (!read_t32(code, address, instruction) ||
      !read_values_t32(code, address, one.flow, one.leaves)) {
    return std::nullopt;
  }
  one.size = instruction.size;
  one.calls = instruction.flow == Instruction::Flow::call;
  return one;
}

// What may not have happened leaves nothing known. Where an address goes may be one of two then.
void make_doubtful(ValueFlow& flow) {
  const auto mix = [&](const std::optional<Register>& number) {
    if (number) {
      flow.mixed.push_back(*number);
    }
  };
  for (ValueWrite& write : flow.writes) {
    mix(write.destination);
    if (write.from == ValueWrite::From::reg) {
      mix(write.source);
    }
    mix(write.place.base);
    mix(write.place.index);
    ValueWrite unknown;
    unknown.destination = write.destination;
    unknown.stored_at = write.stored_at;
    unknown.stored_size = write.stored_size;
    write = unknown;
  }
}

// An IT instruction and those that depend on it. Their reads are of what was there before all of
// them.
class IfThen {
 public:
  std::optional<ValueFlow> read(ByteView code, Address address) {
    const std::uint32_t it = half_at(code, 0).value_or(0);
    const int count = if_then_count(it);
    std::uint64_t at = 2;
    for (int i = 0; i < count; ++i) {
      auto one = read_t32_one(code.from(at), address + at);
      if (!one) {
        break;
      }
      // From the second one on a bit says whether it is the condition's contrary.
      const bool contrary = i != 0 && bit(it, static_cast<unsigned>(4 - i)) != bit(it, 4);
      take(std::move(*one), contrary);
      at += parts_.back().one.size;
    }
    return parts_.empty() ? std::nullopt : std::optional(joined());
  }

 private:
  using Written = std::bitset<kPc + 1>;
  struct Part {
    One one;
    bool contrary = false;
  };

  void take(One one, bool contrary) {
    const Written& written = written_.at(contrary ? 1 : 0);
    const auto is_new = [&](Register number) { return number <= kPc && written.test(number); };
    std::erase_if(one.flow.reads, [&](const ValueFlow::Read& read) { return is_new(read.number); });
    for (ValueFlow::Load& load : one.flow.loads) {
      const ValueAddress& place = load.place;
      load.place.known = place.known && !is_new(place.base.value_or(kPc + 1)) &&
                         !is_new(place.index.value_or(kPc + 1));
    }
    for (const ValueWrite& write : one.flow.writes) {
      if (write.destination && *write.destination <= kPc) {
        written_.at(contrary ? 1 : 0).set(*write.destination);
      }
    }
    parts_.push_back({std::move(one), contrary});
  }

  // What those do who leave with the last one nobody else has done.
  ValueFlow joined() {
    const Part& last = parts_.back();
    ValueFlow out;
    if (last.one.calls) {
      out.may_not_run = true;
      out.target = last.one.flow.target;
      for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
        if (parts_[i].contrary == last.contrary) {
          const auto& writes = parts_[i].one.flow.writes;
          out.before_call.insert(out.before_call.end(), writes.begin(), writes.end());
        }
      }
    }
    for (Part& part : parts_) {
      ValueFlow& flow = part.one.flow;
      if (last.one.leaves && part.contrary == last.contrary) {
        flow.writes.clear();
      }
      make_doubtful(flow);
      append(out.writes, flow.writes);
      append(out.reads, flow.reads);
      append(out.loads, flow.loads);
      append(out.mixed, flow.mixed);
      out.both_ways = out.both_ways || flow.both_ways;
    }
    return out;
  }
  template <typename Each>
  static void append(std::vector<Each>& to, const std::vector<Each>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  std::vector<Part> parts_;
  std::array<Written, 2> written_{};  // under the condition, and under its contrary
};

class Reader final : public ValueReader {
 public:
  explicit Reader(const CodeReader& around) : modes_(around) {}
  std::optional<ValueFlow> read(ByteView code, Address address) override {
    return values_of(code, address, modes_.is_thumb(address));
  }
  [[nodiscard]] std::span<const Register> results() const override { return kResults; }

 private:
  static constexpr std::array<Register, 2> kResults = {0, 1};

  ModesAround modes_;
};

std::optional<ValueFlow> values_of_a32(ByteView code, Address address) {
  constexpr std::uint32_t kAlways = 0xe;
  ValueFlow flow;
  bool leaves = false;
  if (!read_values_a32(code, address, flow, leaves)) {
    return std::nullopt;
  }
  if (bits(word_at(code, 0).value_or(0), 28, 4) < kAlways) {
    flow.may_not_run = true;
    if (leaves) {
      flow.writes.clear();
    }
    make_doubtful(flow);
  }
  return flow;
}

}  // namespace

std::optional<ValueFlow> values_of(ByteView code, Address address, bool thumb) {
  if (!thumb) {
    return values_of_a32(code, address);
  }
  if (is_if_then(half_at(code, 0).value_or(0))) {
    return IfThen().read(code, address);
  }
  auto one = read_t32_one(code, address);
  return one ? std::optional(std::move(one->flow)) : std::nullopt;
}

std::unique_ptr<ValueReader> make_value_reader(const CodeReader& around) {
  return std::make_unique<Reader>(around);
}

}  // namespace whocall::arm
