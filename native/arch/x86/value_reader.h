// What instructions of x86-64 and i386 do with values, by capstone.
#pragma once

#include <memory>

#include "arch/value_flow.h"
#include "base/code_reader.h"

namespace whocall::x86 {

std::unique_ptr<ValueReader> make_value_reader_64(const CodeReader& around = {});
std::unique_ptr<ValueReader> make_value_reader_32(const CodeReader& around = {});

}  // namespace whocall::x86
