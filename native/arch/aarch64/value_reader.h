// What instructions of A64 do with values.
#pragma once

#include <memory>

#include "arch/value_flow.h"
#include "base/code_reader.h"

namespace whocall::aarch64 {

std::unique_ptr<ValueReader> make_value_reader(const CodeReader& around = {});

}  // namespace whocall::aarch64
