#include "runtime/code_checks.h"

#include <cstddef>
#include <cstring>

#include "runtime/machine.h"
#include "runtime/names.h"
#include "runtime/readable.h"

namespace whocall::runtime {
namespace {

constexpr std::uintptr_t kLongestFunction = 0x10000;  // bytes of a function

}  // namespace

bool is_behind_call(std::uintptr_t return_address) {
  const std::uintptr_t end = return_address & kCodeMask;
  // Near the beginning of a page that before it may be missing.
  std::size_t size = kLongestCall;
  while (size != 0 && (size > end || !readable(end - size))) {
    --size;
  }
  return size != 0 && readable(end - 1) &&
         ends_with_call({reinterpret_cast<const std::uint8_t*>(end - size), size}, return_address);
}

bool may_be_chained(const Module& module, std::uintptr_t lookup) {
  const FunctionName function = find_name(module, lookup - module.bias);
  const std::uintptr_t begin = function.begin + module.bias;
  // Compilers put what is rarely run elsewhere, with a name of its own.
  if (function.name == nullptr || std::strstr(function.name, ".cold") != nullptr ||
      lookup - begin >= kLongestFunction) {
    return true;
  }
  return sets_frame_pointer({reinterpret_cast<const std::uint8_t*>(begin), lookup + 1 - begin},
                            function.mode);
}

}  // namespace whocall::runtime
