#include "arguments/arguments.h"

#include <algorithm>

#include "base/low_bytes.h"

namespace whocall {
namespace {

// Two exact ways that disagree make it nothing.
std::optional<ArgumentValue> weigh_ways(const std::optional<FoundValue>& callee,
                                        const std::optional<FoundValue>& site, unsigned size) {
  const auto told = [&](const FoundValue& found, ArgumentTrust trust) {
    return std::optional(ArgumentValue{low_bytes(found.value, size), trust});
  };
  const bool by_callee = callee && !callee->now;
  const bool by_site = site && !site->now;
  if (by_callee && by_site) {
    const bool agree = low_bytes(callee->value, size) == low_bytes(site->value, size);
    return agree ? told(*callee, ArgumentTrust::both) : std::nullopt;
  }
  if (by_callee) {
    return told(*callee, ArgumentTrust::callee);
  }
  if (by_site) {
    return told(*site, ArgumentTrust::call_site);
  }
  const auto& now = callee ? callee : site;
  return now ? told(*now, ArgumentTrust::now) : std::nullopt;
}

// Folklore. Situation: integers of 64 bits begin at even words; what is in the one before them is
// nobody's. Example: f(int, long long) takes r0, r2 and r3 on ARM. Remedy: such a word that is not
// read has no value.
bool may_be_gap(const Argument& argument, const Architecture& arch) {
  const ArgumentPlaces places(arch.registers);
  const std::size_t position = argument.place.reg ? places.position_of(*argument.place.reg)
                                                  : places.position_of(argument.place.offset);
  return argument.size == 0 && arch.registers.size < arch.abi.wide_alignment && position % 2 != 0;
}

FrameArguments arguments_of(FrameValues& values, std::size_t index, CodeValues& code) {
  FrameArguments found;
  const auto start = values.entered_at(index);
  const Parameters* const taken = start ? code.parameters_at(*start) : nullptr;
  if (taken == nullptr) {
    return found;
  }
  found.known = true;
  found.registers = &code.arch().registers;
  found.more = taken->variadic;
  for (const Parameter& each : taken->list) {
    Argument argument{each.place, each.size, each.is_signed};
    const std::uint8_t needed = argument.size != 0 ? argument.size : code.arch().registers.size;
    if (!may_be_gap(argument, code.arch())) {
      argument.value = weigh_ways(values.by_callee(index, argument.place, needed),
                                  values.by_caller(index, argument.place, needed), needed);
    }
    found.list.push_back(argument);
  }
  return found;
}

}  // namespace

std::string_view to_string(ArgumentTrust trust) {
  switch (trust) {
    case ArgumentTrust::both:
      return "both";
    case ArgumentTrust::callee:
      return "callee";
    case ArgumentTrust::call_site:
      return "call-site";
    case ArgumentTrust::now:
      return "now";
  }
  return {};
}

std::vector<FrameArguments> arguments_of_frames(CodeValues& code, const Thread& thread,
                                                const std::vector<Frame>& frames,
                                                std::size_t count) {
  std::vector<FrameArguments> found(std::min(count, frames.size()));
  if (!code.usable()) {
    return found;
  }
  FrameValues values(code, thread, frames, found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = arguments_of(values, i, code);
  }
  return found;
}

}  // namespace whocall
