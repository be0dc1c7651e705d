// By which convention a function is called, where a process has code of more than one.
#pragma once

#include "arguments/argument_place.h"
#include "arguments/function_values.h"

namespace whocall {

// Of the function that `values` are of: by its file, or by the registers that it keeps.
CallConvention convention_of(const FunctionValues& values, const ProcessImage& process);

}  // namespace whocall
