// What instructions of x86-64 and i386 do with values, by capstone.
#pragma once

#include <memory>

#include "arch/value_flow.h"

namespace whocall::x86 {

std::unique_ptr<ValueReader> make_value_reader_64();
std::unique_ptr<ValueReader> make_value_reader_32();

}  // namespace whocall::x86
