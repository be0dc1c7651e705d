// By which convention a function is called, where a process has code of more than one.
#pragma once

#include "arguments/function_values.h"

namespace whocall {

// Whether the function that `values` are of lies in a file of Windows.
bool is_of_windows(const FunctionValues& values, const ProcessImage& process);

// Whether one in a file of Linux restores for its callers what only code of Windows does.
//
// Folklore. Situation: a function in a file of Linux is called as code of Windows calls. Example:
// what Wine's ntdll.so does for ntdll.dll (ms_abi). Remedy: there rdi and rsi are the caller's, as
// rbx is: what pops both before it returns, and none of rcx and its like, and does not use what
// they held, is called so.
bool keeps_as_windows(const FunctionValues& values, const ProcessImage& process);

}  // namespace whocall
