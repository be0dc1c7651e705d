// What was handed over: the arguments of the frames of a backtrace.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "arguments/code_values.h"
#include "arguments/frame_values.h"
#include "unwind/backtrace.h"

namespace whocall {

// How a value is known, best first.
enum class ArgumentTrust : std::uint8_t {
  both,       // callee and call site tell the same
  callee,     // the callee still has it, as it got it
  call_site,  // what the caller put there is known still
  now,        // it is what memory holds now, which may have changed since
};
std::string_view to_string(ArgumentTrust trust);  // "both", "callee", "call-site", "now"

struct ArgumentValue {
  std::uint64_t value = 0;  // its lowest Argument::size bytes
  ArgumentTrust trust = ArgumentTrust::now;
};

struct Argument {
  ArgumentPlace place{};  // that it was handed over in
  std::uint8_t size = 0;  // bytes that the function reads; 0: it reads none of it
  bool is_signed = false;
  std::optional<ArgumentValue> value{};
};

struct FrameArguments {
  bool known = false;                       // which arguments there are; else nothing was found out
  const RegisterFile* registers = nullptr;  // of the instruction set
  std::vector<Argument> list{};
  bool more = false;  // the function takes a variable number
};

// Of the innermost `count` frames of `thread`'s walk.
std::vector<FrameArguments> arguments_of_frames(CodeValues& code, const Thread& thread,
                                                const std::vector<Frame>& frames,
                                                std::size_t count);

}  // namespace whocall
