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

// Folklore. Situation: a function in a file of Linux is called as code of Windows calls. Example:
// what Wine's ntdll.so does for ntdll.dll (ms_abi). Remedy: there rdi and rsi are the caller's, as
// rbx is: what pops both before it returns, and none of rcx and its like, is called so.
bool keeps_as_windows(std::span<const FunctionValues::Step> steps, const RegisterFile& file) {
  WrittenRegisters popped;  // in a row, up to here
  for (const FunctionValues::Step& step : steps) {
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

}  // namespace

CallConvention convention_of(const FunctionValues& values, const ProcessImage& process) {
  const RegisterFile& file = process.arch->registers;
  if (file.windows_arguments.empty()) {
    return CallConvention::native;
  }
  const Module* const module = process.module_at(values.range().begin);
  const bool windows =
      module != nullptr && module->file != nullptr && calls_as_windows(*module->file);
  return windows || keeps_as_windows(values.steps(), file) ? CallConvention::windows
                                                           : CallConvention::native;
}

}  // namespace whocall
