#include "arguments/call_convention.h"

#include <algorithm>

#include "object/pe_file.h"

namespace whocall {
namespace {

// The register that a step pops, and does nothing else.
std::optional<Register> popped_by(const FunctionValues::Step& step, const RegisterFile& file) {
  const auto& writes = step.values.writes;
  const auto found = std::ranges::find_if(writes, [&](const ValueWrite& each) {
    return each.from == ValueWrite::From::memory && each.place.base == file.sp;
  });
  return found != writes.end() && writes.size() == 2 ? found->destination : std::nullopt;
}

}  // namespace

bool is_of_windows(const FunctionValues& values, const ProcessImage& process) {
  const Module* const module = process.module_at(values.range().begin);
  return module != nullptr && module->file != nullptr && calls_as_windows(*module->file);
}

bool keeps_as_windows(const FunctionValues& values, const ProcessImage& process) {
  const RegisterFile& file = process.arch->registers;
  if (file.windows_arguments.empty()) {
    return false;
  }
  WrittenRegisters popped;  // in a row, up to here
  for (const FunctionValues::Step& step : values.steps()) {
    if (const auto number = popped_by(step, file)) {
      popped.set(*number);
      continue;
    }
    const bool keeps = std::ranges::all_of(file.arguments, [&](Register each) {
      const auto& windows = file.windows_arguments;
      return popped.test(each) == (std::ranges::find(windows, each) == windows.end());
    });
    if (keeps && step.flow == Instruction::Flow::stop) {
      return true;
    }
    popped.reset();
  }
  return false;
}

}  // namespace whocall
